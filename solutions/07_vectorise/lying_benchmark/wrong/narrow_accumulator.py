"""Your accumulator is float32 for every x. `+=` keeps the dtype of its left side, and rounds float64 entries to it.

caught by: dtype
keeps: compare_sums
"""

import torch


def add_up(x):
    total = torch.zeros(())
    for value in x:
        total += value
    return total
