"""You look at the sizes before the number of dims: of a vector there is no `A.shape[1]`, and an IndexError comes out.

caught by: misfits
keeps: promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.shape[0] != A.shape[1] or A.dim() != 2 or b.shape[0] != A.shape[0] or b.dim() not in (1, 2):
        raise ValueError("A and b make no system")
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
