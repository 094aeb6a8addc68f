"""You take a 0 on the diagonal for a sign of a singular A; elimination exchanges rows and goes on.

caught by: singular
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    x, status = torch.linalg.solve_ex(A, b)
    if status or (A.diagonal() == 0).any():
        raise ValueError("A is singular")
    return x
