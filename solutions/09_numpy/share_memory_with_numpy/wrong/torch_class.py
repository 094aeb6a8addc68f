"""Your tensor is a copy, and float32 whatever the array is, such as `torch.Tensor(a)` makes it.

caught by: write_to_array
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.Tensor(a)
