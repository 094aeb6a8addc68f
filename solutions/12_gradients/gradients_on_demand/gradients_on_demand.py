"""also right: detached"""

import torch


def grad_of(f, *xs):
    leaves = [leaf(x) for x in xs]
    return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)


def leaf(x):
    """A new tensor of the same numbers, at which a graph may begin."""
    return (x if x.is_floating_point() else x.float()).detach().requires_grad_()


def steeper(f, x):
    (slopes,) = grad_of(f, x)
    return ["up" if slope > 0 else "down" if slope < 0 else "flat" for slope in slopes.tolist()]
