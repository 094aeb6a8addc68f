"""You compare ranges of addresses: even and odd columns lie in one range and have no element in common.

caught by: columns
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.may_share_memory(a, t.numpy())
