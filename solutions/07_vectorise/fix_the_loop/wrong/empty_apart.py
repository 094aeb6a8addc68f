"""You treat an empty x apart and forget its dtype; the sum of no entries is 0 already, in the dtype of x.

caught by: dtype
"""

import torch


def energy_above(x, thr):
    if x.numel() == 0:
        return torch.tensor(0.0)
    return x[x > thr].square().sum()
