"""You solve in NumPy (`numpy`): no gradient finds its way back to A and b.

caught by: gradients
keeps: refuse_misfits, promoted
"""

import numpy as np
import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.from_numpy(np.linalg.solve(A.detach().numpy(), b.detach().numpy()))
    except np.linalg.LinAlgError:
        raise ValueError("A is singular") from None
