"""You use `lstsq`, which finds a best fit and never reports a singular A; use `torch.linalg.solve`.

caught by: singular
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
    columns = b.unsqueeze(1) if b.dim() == 1 else b
    return torch.linalg.lstsq(A, columns).solution.reshape(b.shape)
