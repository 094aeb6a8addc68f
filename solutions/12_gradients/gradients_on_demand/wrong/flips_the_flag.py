"""You ask the caller's own tensors for gradients, and they go on asking when you are done.

caught by: kept
keeps: steeper
"""

import torch


def grad_of(f, *xs):
    own = [(x if x.is_floating_point() else x.float()).requires_grad_() for x in xs]
    return torch.autograd.grad(f(*own), own, materialize_grads=True)
