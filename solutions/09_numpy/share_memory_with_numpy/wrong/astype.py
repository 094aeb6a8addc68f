"""You convert the array with `astype`, which copies it; the dtype should stay as it is.

caught by: tensor_shares
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a.astype(np.float32))
