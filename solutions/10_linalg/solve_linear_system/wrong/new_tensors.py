"""You make new tensors with `detach` to get the dtype you want, and these have no history: no gradient finds its way
back.

caught by: gradients
keeps: refuse_misfits
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    dtype = torch.promote_types(A.dtype, b.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    if A.dtype != dtype:
        A = A.detach().clone().to(dtype)
    if b.dtype != dtype:
        b = b.detach().clone().to(dtype)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
