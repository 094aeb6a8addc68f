"""You hand integers to the solver, which takes floating-point numbers only; convert A and b first.

caught by: integers
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be a square matrix")
    if b.dim() not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError("b does not fit A")
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
