"""You call something of your own `sum`, such as the accumulator. Where that name holds a tensor, Python's own `sum`
cannot be called.

caught by: name
keeps: compare_sums
"""

import torch


def add_up(x):
    sum = torch.zeros((), dtype=x.dtype)
    for value in x:
        sum += value
    return sum
