"""NumPy adds up, in the dtype of the array."""

import numpy as np
import torch


def running_totals(rain):
    a = rain.numpy()
    return torch.from_numpy(np.cumsum(a, axis=0, dtype=a.dtype))
