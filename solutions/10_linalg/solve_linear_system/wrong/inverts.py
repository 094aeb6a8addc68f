"""You invert A and multiply: that is slower, and for a nearly singular A far less exact than solving.

caught by: exact
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.inv(A) @ b
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
