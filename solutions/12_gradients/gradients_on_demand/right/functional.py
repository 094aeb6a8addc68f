"""The library's own function for it, with integers converted first."""

import torch
from torch.autograd.functional import jacobian


def grad_of(f, *xs):
    floats = tuple(x.detach() if x.is_floating_point() else x.to(torch.float32) for x in xs)
    return tuple(jacobian(f, floats))


def steeper(f, x):
    slopes = grad_of(f, x)[0]
    return ["flat" if s == 0 else ("down", "up")[bool(s > 0)] for s in slopes]
