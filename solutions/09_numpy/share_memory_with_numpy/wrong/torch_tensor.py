"""Your tensor is a copy, such as `torch.tensor(a)` always makes; there is a function that looks at the memory of a.

caught by: write_to_array
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.tensor(a)
