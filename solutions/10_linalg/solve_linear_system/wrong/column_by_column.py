"""You solve for one column at a time, so A is eliminated anew for each of them; hand all of b to the solver.

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
        return torch.stack([torch.linalg.solve(A, column) for column in b.T], dim=1)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
