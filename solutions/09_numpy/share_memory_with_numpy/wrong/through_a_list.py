"""You go through a Python list, which copies every number and forgets the dtype.

caught by: array_shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return np.array(t.tolist())


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.shares_memory(a, t.numpy())
