"""You compare the first addresses: two windows can share memory and begin at different places.

caught by: offsets
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return a.ctypes.data == t.data_ptr()
