"""You copy transposes of three dims (`ascontiguousarray`); strides describe any order of any number of dims.

caught by: tensor_of_window
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a if a.ndim < 3 else np.ascontiguousarray(a))
