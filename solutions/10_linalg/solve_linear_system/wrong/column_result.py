"""You make a column out of b and return a column; x has the shape of b.

caught by: shape
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be a square matrix")
    if b.dim() not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError("b does not fit A")
    dtype = torch.promote_types(A.dtype, b.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    A, b = A.to(dtype), b.to(dtype)
    if b.dim() == 1:
        b = b.unsqueeze(1)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
