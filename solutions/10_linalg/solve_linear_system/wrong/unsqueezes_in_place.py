"""You add a dim to b in place: `unsqueeze_` changes the caller's tensor, `unsqueeze` makes a view of your own.

caught by: unchanged
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    vector = b.dim() == 1
    if vector:
        b.unsqueeze_(1)
    A, b = promoted(A, b)
    try:
        x = torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
    return x.squeeze(1) if vector else x
