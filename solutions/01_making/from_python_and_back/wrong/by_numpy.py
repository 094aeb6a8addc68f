"""You come by way of NumPy, whose floats are float64. `torch.from_numpy` keeps that dtype.

caught by: dtypes
keeps: to_python
"""

import numpy as np
import torch


def to_tensor(readings):
    return torch.from_numpy(np.array(readings))
