"""You solve for the identity and multiply: that is the inverse under another name, and as inexact.

caught by: exact
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, torch.eye(len(A), dtype=A.dtype)) @ b
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
