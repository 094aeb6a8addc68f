"""You left PyTorch: `.tolist()` makes Python numbers.

caught by: gradient
"""

import torch


def total(x):
    return torch.tensor(sum(x.tolist()))


def mean(x):
    return x.mean()
