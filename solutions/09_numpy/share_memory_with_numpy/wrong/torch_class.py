"""You use `torch.Tensor(a)`: it copies, and it makes float32 out of every dtype.

caught by: write_to_array
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.Tensor(a)
