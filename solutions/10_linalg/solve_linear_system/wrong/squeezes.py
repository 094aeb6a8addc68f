"""You squeeze x, which takes away every dim of size 1, also that of a b with one column; x has the shape of b.

caught by: systems
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, b.reshape(len(b), -1)).squeeze()
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
