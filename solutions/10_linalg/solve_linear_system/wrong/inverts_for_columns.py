"""You solve for one right-hand side, but for several you take the inverse: the solver takes them all at once.

caught by: exact
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, b) if b.dim() == 1 else torch.linalg.inv(A) @ b
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
