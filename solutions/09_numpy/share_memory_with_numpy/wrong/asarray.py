"""You use `torch.asarray`, which shares with most arrays and copies those without a dim.

caught by: tensor_shares
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.asarray(a)
