"""You use `torch.tensor(a)`, which always copies; there is a function that looks at the memory of the array instead.

caught by: write_to_array
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.tensor(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return np.shares_memory(a, t.numpy())
