"""Factors A first, as one does when more right-hand sides will follow."""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.ndim != 2 or len(A) != A.shape[1] or b.ndim not in (1, 2) or len(b) != len(A):
        raise ValueError(f"shapes {tuple(A.shape)} and {tuple(b.shape)} do not make a system")
    dtype = _common_dtype(A, b)
    factors, pivots, status = torch.linalg.lu_factor_ex(A.to(dtype))
    if status.item():
        raise ValueError("A is singular")
    columns = b.to(dtype).reshape(len(b), -1)
    return torch.linalg.lu_solve(factors, pivots, columns).reshape(b.shape)


def _common_dtype(A: Tensor, b: Tensor) -> torch.dtype:
    for dtype in (torch.float64, torch.float32):
        if dtype in (A.dtype, b.dtype):
            return dtype
    return torch.get_default_dtype()
