"""PyTorch refuses a tensor that f does not use, unless you pass `allow_unused=True` or `materialize_grads=True`.

caught by: unused
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return torch.autograd.grad(f(*leaves), leaves)
