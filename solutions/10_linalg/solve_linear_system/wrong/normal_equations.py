"""You solve with `A.T @ A`, which is twice as near to being singular as A: half of the digits are lost.

caught by: exact
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    if torch.linalg.solve_ex(A, b).info:
        raise ValueError("A is singular")
    return torch.linalg.solve_ex(A.T @ A, A.T @ b).result
