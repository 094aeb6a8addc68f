"""You count in floats: a sum of ones and zeros of float32 stays float32.

caught by: dtype
"""

import torch


def tally(x, n):
    return (x[:, None] == torch.arange(n)).float().sum(0)
