"""Asks for a status instead of an exception."""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be a square matrix")
    if b.dim() not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError("b does not fit A")
    dtype = torch.result_type(A, b)
    if dtype.is_floating_point is False:
        dtype = torch.get_default_dtype()
    x, status = torch.linalg.solve_ex(A.to(dtype), b.to(dtype))
    if status != 0:
        raise ValueError(f"no pivot in column {int(status)}")
    return x
