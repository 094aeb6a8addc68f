"""You add a dim to a tensor that has none; an array without a dim holds one number, and is an array all the same.

caught by: array_values
keeps: tensor_view, shares
"""

import numpy as np
from torch import Tensor


def array_view(t: Tensor) -> np.ndarray:
    return np.atleast_1d(t.numpy())
