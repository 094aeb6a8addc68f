"""You take a small determinant for a singular A; scale A down and any determinant gets small.

caught by: singular
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    if abs(torch.linalg.det(A)) < 1e-8:
        raise ValueError("A is singular")
    return torch.linalg.solve(A, b)
