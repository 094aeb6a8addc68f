"""You use `lstsq`, which finds a best fit and never reports a singular A; use `torch.linalg.solve`.

caught by: singular
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    columns = b.unsqueeze(1) if b.dim() == 1 else b
    return torch.linalg.lstsq(A, columns).solution.reshape(b.shape)
