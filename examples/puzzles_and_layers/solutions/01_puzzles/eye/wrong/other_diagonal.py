"""You fill the diagonal that goes up: the last column of the first row.

caught by: two
"""

import torch


def eye(n):
    return (torch.arange(n)[:, None] + torch.arange(n) == n - 1).long()
