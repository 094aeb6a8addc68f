"""You compare the numbers: equal numbers can lie in two places, and a view of a part has another shape.

caught by: twins
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return a.shape == tuple(t.shape) and bool(np.array_equal(a, t.numpy()))
