"""You leave the shapes to the solver, which also takes batches; count the dimensions of A and b yourself.

caught by: misfits
keeps: promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    A, b = promoted(A, b)
    if A.shape[-1] != A.shape[-2]:
        raise ValueError("A must be square")
    try:
        return torch.linalg.solve(A, b)
    except RuntimeError as error:
        raise ValueError("A is singular or b does not fit") from error
