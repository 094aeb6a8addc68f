"""You leave PyTorch with `.tolist()`: Python then handles every number by itself, and the gradient is lost.

caught by: stays
breaks: C4, C5, C7
"""

import torch


def energy_above(x, thr):
    return torch.tensor(sum(value * value for value in x.flatten().tolist() if value > thr), dtype=x.dtype)
