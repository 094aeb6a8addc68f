"""You ask for gradients of the gradients with `create_graph`, so that each of them drags its history along.

caught by: no_history
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return torch.autograd.grad(f(*leaves), leaves, create_graph=True, materialize_grads=True)
