"""You copy some dtypes, such as float16, as if they could not be shared; every dtype that both sides have can be.

caught by: array_shares
keeps: tensor_view, shares
"""

import numpy as np
import torch
from torch import Tensor


def array_view(t: Tensor) -> np.ndarray:
    return t.numpy() if t.dtype in (torch.float64, torch.float32) else t.clone().numpy()
