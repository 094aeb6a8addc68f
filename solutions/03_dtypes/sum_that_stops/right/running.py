"""Running totals in float64, the last of which is the sum."""

import torch


def loop_sum(x):
    total = x.new_zeros(())
    for score in x.flatten():
        total = total + score
    return total


def _wide(x):
    totals = torch.cat([x.new_zeros(1), x.reshape(-1)]).cumsum(0, dtype=torch.float64)
    return totals[-1]


def accurate_sum(x):
    return _wide(x).to(x.dtype)


def loop_error(x):
    return torch.dist(loop_sum(x).double(), _wide(x)).item()
