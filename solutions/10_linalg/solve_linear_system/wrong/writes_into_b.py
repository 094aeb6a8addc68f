"""You write the solution into b; the caller still needs it.

caught by: unchanged
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        x = torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
    if torch.is_grad_enabled() and (A.requires_grad or b.requires_grad):
        return x
    return b.copy_(x)
