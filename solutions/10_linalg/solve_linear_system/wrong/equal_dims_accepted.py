"""You compare the first sizes only; a batch of square matrices, or a b with three dims, has these as well.

caught by: misfits
keeps: promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.dim() < 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be square")
    if b.dim() < 1 or b.shape[0] != A.shape[0]:
        raise ValueError("b does not fit A")
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
