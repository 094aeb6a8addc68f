"""You turn each integer tensor into the default dtype by itself; beside a float64 tensor, it loses digits so.

caught by: dtypes
keeps: refuse_misfits
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    if not A.is_floating_point():
        A = A.to(torch.get_default_dtype())
    if not b.is_floating_point():
        b = b.to(torch.get_default_dtype())
    dtype = torch.promote_types(A.dtype, b.dtype)
    try:
        return torch.linalg.solve(A.to(dtype), b.to(dtype))
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
