"""You copy by way of NumPy, which has no bfloat16. `clone` takes a memory format and copies every dtype.

caught by: packed
keeps: swap, flip_last
"""

import numpy as np
import torch


def packed(t):
    return torch.from_numpy(np.array(t.numpy(), order="C"))
