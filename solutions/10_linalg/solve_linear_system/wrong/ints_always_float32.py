"""You turn integers into float32 by name; the default float dtype may be another one.

caught by: dtypes
keeps: refuse_misfits
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    dtype = torch.promote_types(A.dtype, b.dtype)
    if not dtype.is_floating_point:
        dtype = torch.float32
    A, b = A.to(dtype), b.to(dtype)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
