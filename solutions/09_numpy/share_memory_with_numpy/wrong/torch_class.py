"""You use `torch.Tensor(a)`: it copies, and it makes float32 out of every dtype.

caught by: tensor_dtype
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.Tensor(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.shares_memory(a, t.numpy())
