"""You copy an expanded tensor; an array can have a stride of 0 as well.

caught by: array_of_window
keeps: tensor_view, shares
"""

import numpy as np
from torch import Tensor


def array_view(t: Tensor) -> np.ndarray:
    return t.contiguous().numpy() if 0 in t.stride() else t.numpy()
