"""You make a column out of b and return a column; x has the shape of b.

caught by: systems
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    if b.dim() == 1:
        b = b.unsqueeze(1)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
