"""The reference.

also right: detached
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.shares_memory(a, t.numpy())
