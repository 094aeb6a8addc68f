"""You drop the dims of size 1 with `squeeze`; the shape stays as it is, a picture of one row is still a picture.

caught by: tensor_values
keeps: array_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_numpy(a).squeeze()
