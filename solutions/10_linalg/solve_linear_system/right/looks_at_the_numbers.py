"""Lets the solver divide by 0, and looks for what comes of it; a float, made once, gives integers their dtype."""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    n = A.shape[0] if A.dim() == 2 else -1
    if tuple(A.shape) != (n, n) or tuple(b.shape[:1]) != (n,) or b.dim() > 2:
        raise ValueError("A and b make no system")
    dtype = torch.promote_types(A.dtype, b.dtype)
    dtype = torch.result_type(torch.empty(1, dtype=dtype), 1.0)
    x, _ = torch.linalg.solve_ex(A.to(dtype), b.to(dtype))
    if not x.isfinite().all():
        raise ValueError("A is singular")
    return x
