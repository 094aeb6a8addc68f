"""You say False whatever shares memory, as by `id`s: an array and a tensor are always two objects.

caught by: twins
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return id(a) == id(t)
