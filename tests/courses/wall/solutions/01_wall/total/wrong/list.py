"""You left PyTorch: `.tolist()` makes Python numbers.

caught by: gradient
breaks: C2, C3
"""

import torch


def total(x):
    return torch.tensor(sum(x.tolist()))


def mean(x):
    return x.mean()
