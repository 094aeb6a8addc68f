"""You make one row after another; a column times a row gives them all at once.

caught by: no_loop
"""

import torch


def outer(a, b):
    return torch.stack([value * b for value in a])
