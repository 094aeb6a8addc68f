"""You left PyTorch: `.tolist()` makes Python numbers.

caught by: counts
"""

import torch


def total(x):
    return torch.tensor(sum(x.tolist()))
