"""You refuse an A whose condition number (`cond`) is large: it is nearly singular, and such a system has a solution,
too.

caught by: singular
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    if torch.linalg.cond(A) > 1 / torch.finfo(A.dtype).eps:
        raise ValueError("A is singular")
    return torch.linalg.solve(A, b)
