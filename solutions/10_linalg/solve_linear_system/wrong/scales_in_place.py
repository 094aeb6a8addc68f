"""You scale the rows in place; where no conversion was needed, `.to(dtype)` has given you the caller's own tensors.

caught by: unchanged
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    if not (A.requires_grad or b.requires_grad):
        largest = A.abs().amax(dim=1, keepdim=True)
        largest[largest == 0] = 1
        A.div_(largest)
        b.div_(largest if b.dim() == 2 else largest[:, 0])
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError:
        raise ValueError("A is singular") from None
