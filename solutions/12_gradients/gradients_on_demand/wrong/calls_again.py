"""You call f more than once, as for each tensor anew; one call gives the gradients of all of them.

caught by: one_call
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return tuple(torch.autograd.grad(f(*leaves), [x], materialize_grads=True)[0] for x in leaves)
