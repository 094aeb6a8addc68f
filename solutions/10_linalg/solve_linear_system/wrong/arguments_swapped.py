"""You have swapped the arguments of `torch.linalg.solve`: the matrix comes first.

caught by: systems
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(b, A)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
