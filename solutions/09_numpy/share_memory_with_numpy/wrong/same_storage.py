"""You ask whether both lie in the same storage; windows on it that have no element in common do not count.

caught by: offsets
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    start = t.untyped_storage().data_ptr()
    return root.ctypes.data < start + t.untyped_storage().nbytes() and start < root.ctypes.data + root.nbytes
