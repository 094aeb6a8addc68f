"""You give None for a tensor that f does not use. It does not move f at all, so its gradient is 0.

caught by: unused
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
