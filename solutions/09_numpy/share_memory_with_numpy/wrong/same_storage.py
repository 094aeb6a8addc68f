"""You ask whether both lie in the same storage; windows on it that have no element in common do not count.

caught by: offsets
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    start = t.untyped_storage().data_ptr()
    return root.ctypes.data < start + t.untyped_storage().nbytes() and start < root.ctypes.data + root.nbytes
