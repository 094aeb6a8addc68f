"""Only floating-point tensors can require a gradient, so your function fails for integers; convert them first.

caught by: integers
keeps: steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [x.detach().requires_grad_() for x in xs]
    return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)
