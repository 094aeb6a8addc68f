"""You convert everything to float32: float64 numbers lose half of their digits.

caught by: dtypes
breaks: C2, C3
keeps: refuse_misfits
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = A.float(), b.float()
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
