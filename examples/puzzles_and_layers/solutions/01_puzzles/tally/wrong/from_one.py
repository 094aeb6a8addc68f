"""You count 1 to n; the numbers begin with 0.

caught by: small
"""

import torch


def tally(x, n):
    return (x[:, None] == torch.arange(n) + 1).sum(0)
