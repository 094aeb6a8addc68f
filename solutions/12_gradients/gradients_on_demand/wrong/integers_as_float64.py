"""You turn integers into float64; float32 is what PyTorch computes in unless asked, and what the rule says.

caught by: integers
keeps: steeper
"""

import torch


def grad_of(f, *xs):
    leaves = [(x if x.is_floating_point() else x.double()).detach().requires_grad_() for x in xs]
    return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)
