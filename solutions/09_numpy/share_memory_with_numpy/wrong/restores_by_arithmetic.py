"""You add 1 to find out and subtract it again; floats round on the way, so keep a copy if you must write.

caught by: only_looks
keeps: tensor_view, array_view
"""

import numpy as np
import torch
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    if a.dtype == bool:
        return np.shares_memory(a, t.numpy())
    before = t.clone()
    a += 1
    changed = not torch.equal(before, t)
    a -= 1
    return changed
