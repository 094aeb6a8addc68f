"""You call `torch.cdist`. For more than 25 points it takes the identity |a|² + |b|² - 2 a·b, with its rounding errors.

caught by: far[pairwise_lean]
breaks: C2, C3, C6
keeps: pairwise
"""

import torch


def pairwise_lean(a, b):
    return torch.cdist(a, b)
