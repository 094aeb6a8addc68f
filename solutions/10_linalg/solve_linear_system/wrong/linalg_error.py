"""You leave the error to the solver: its LinAlgError is a RuntimeError, and the rule wants a ValueError.

caught by: equal_rows
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    return torch.linalg.solve(A, b)
