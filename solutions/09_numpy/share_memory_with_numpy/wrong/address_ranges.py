"""You compare ranges of addresses: even and odd columns lie in one range and have no element in common.

caught by: columns
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.may_share_memory(a, t.numpy())
