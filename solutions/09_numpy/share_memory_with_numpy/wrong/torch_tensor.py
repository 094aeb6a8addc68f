"""You use `torch.tensor(a)`, which always copies; there is a function that looks at the memory of the array instead.

caught by: write_to_array
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.tensor(a)
