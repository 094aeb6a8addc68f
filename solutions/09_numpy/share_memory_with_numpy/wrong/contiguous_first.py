"""You make the argument contiguous first, which copies every transpose and many slices; both sides know strides.

caught by: tensor_of_window
keeps: shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(a))


def array_view(t: Tensor) -> np.ndarray:
    return t.contiguous().numpy()
