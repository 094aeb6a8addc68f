"""You read the memory from its first number to its last (`reshape`), and ignore the strides: a transpose comes out
unturned.

caught by: tensor_of_window
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a.ravel(order="K")).reshape(a.shape)
