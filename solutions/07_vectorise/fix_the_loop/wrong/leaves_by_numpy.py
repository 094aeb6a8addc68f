"""You leave PyTorch for NumPy: the gradient is lost, and a tensor on an accelerator could not follow.

caught by: stays
"""

import numpy as np
import torch


def energy_above(x, thr):
    a = x.detach().numpy()
    return torch.tensor(np.square(a[a > thr]).sum())
