"""You repeat A (`expand`) for each column of b, and a batch of equal matrices is eliminated one by one; one elimination
will do.

caught by: together
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        if b.dim() == 1:
            return torch.linalg.solve(A, b)
        return torch.linalg.solve(A.expand(b.shape[1], -1, -1), b.T.unsqueeze(2)).squeeze(2).T
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
