"""Your tensor is a copy, and always float32, such as `torch.Tensor(a)` makes it.

caught by: write_to_array
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.Tensor(a)
