"""A product with ones in float64; the error by math.fsum."""

import math

import torch


def loop_sum(x):
    total = x.new_zeros(())
    for score in x.flatten():
        total = total + score
    return total


def accurate_sum(x):
    wide = x.reshape(-1).to(torch.float64)
    return torch.dot(wide, torch.ones_like(wide)).type(x.dtype)


def loop_error(x):
    return math.fabs(loop_sum(x).item() - math.fsum(x.flatten().tolist()))
