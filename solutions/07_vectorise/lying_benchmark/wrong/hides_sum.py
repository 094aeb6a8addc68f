"""You call something of your own `sum`, such as the accumulator. Where that name holds a tensor, nobody can call
Python's own any more.

caught by: name
keeps: compare_sums
"""

import torch


def add_up(x):
    sum = torch.zeros((), dtype=x.dtype)
    for value in x:
        sum += value
    return sum
