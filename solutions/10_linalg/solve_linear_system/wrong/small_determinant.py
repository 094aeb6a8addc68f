"""You take a small determinant for a singular A; scale A down and any determinant gets small.

caught by: small_numbers
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
    if abs(torch.linalg.det(A)) < 1e-8:
        raise ValueError("A is singular")
    return torch.linalg.solve(A, b)
