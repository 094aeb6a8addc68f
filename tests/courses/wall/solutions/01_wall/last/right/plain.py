"""By a function of the library."""

import torch


def negate(x):
    return torch.neg(x)
