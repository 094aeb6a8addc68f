"""You leave a mark on the caller's own tensors: when you are done, they go on asking for gradients, or have one.

caught by: kept
keeps: steeper
"""

import torch


def grad_of(f, *xs):
    own = [(x if x.is_floating_point() else x.float()).requires_grad_() for x in xs]
    return torch.autograd.grad(f(*own), own, materialize_grads=True)
