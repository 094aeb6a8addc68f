"""You turn the other way: the first came last.

caught by: small
"""

import torch


def turn(x):
    return x[(torch.arange(len(x)) + 1) % len(x)]
