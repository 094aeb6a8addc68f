"""You take the length of the array, which one without a dim does not have.

caught by: offsets
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    if len(a) == 0 or len(t) == 0:
        return False
    return np.shares_memory(a, t.numpy())
