"""You return a list of gradients; return a tuple.

caught by: example
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return list(torch.autograd.grad(f(*leaves), leaves, materialize_grads=True))
