"""You compare `id`s: an array and a tensor are always two objects, even on the same memory.

caught by: twins
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return id(a) == id(t)
