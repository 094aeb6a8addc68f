"""PyTorch refuses a tensor that f does not use, unless it is told that this may happen.

caught by: unused
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return torch.autograd.grad(f(*leaves), leaves)
