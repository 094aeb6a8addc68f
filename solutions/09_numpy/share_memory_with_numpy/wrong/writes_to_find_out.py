"""You find out by writing into the array; `shares` should only look.

caught by: only_looks
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    if np.shares_memory(a, t.numpy()):
        a.flat[0] += 1
        return True
    return False
