"""You answer False where the shapes differ; windows of any two shapes can have an element in common.

caught by: offsets
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return a.shape == tuple(t.shape) and np.shares_memory(a, t.numpy())
