"""You find out by writing into the array; `shares` should only look.

caught by: only_looks
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    if np.shares_memory(a, t.numpy()):
        a.flat[0] += 1
        return True
    return False
