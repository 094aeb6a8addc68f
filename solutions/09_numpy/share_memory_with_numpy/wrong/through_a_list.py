"""You go through a Python list, which copies every number and forgets the dtype.

caught by: array_shares
keeps: tensor_view, shares
"""

import numpy as np
from torch import Tensor


def array_view(t: Tensor) -> np.ndarray:
    return np.array(t.tolist())
