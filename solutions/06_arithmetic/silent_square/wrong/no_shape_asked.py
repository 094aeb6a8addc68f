"""You leave the pairing to `mse_loss`; it warns that the shapes differ, and broadcasts all the same.

caught by: mixed[few]
keeps: as_vector
"""

import torch.nn.functional as F


def mse(pred, target):
    if len(as_vector(pred)) != len(as_vector(target)):
        raise ValueError("different numbers")
    return F.mse_loss(pred, target)
