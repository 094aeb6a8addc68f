"""You always return False, as a comparison of `id`s does: an array and a tensor are always two objects.

caught by: twins
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return id(a) == id(t)
