"""You hand integers to the solver, which takes floating-point numbers only; convert A and b first.

caught by: integers
keeps: refuse_misfits
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
