"""You compare the numbers: equal numbers can lie in two places, and a view of a part has another shape.

caught by: twins
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    return a.shape == tuple(t.shape) and bool(np.array_equal(a, t.numpy()))
