"""You make one leaf for each tensor object. If one tensor is given twice, both places get the sum of the gradients.

caught by: given_twice
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    leaves = {id(x): leaf(x) for x in xs}
    places = [leaves[id(x)] for x in xs]
    return torch.autograd.grad(f(*places), places, materialize_grads=True)
