"""Your accumulator is made when the file is loaded. Every run of every call adds to it.

caught by: again
breaks: C2, C3, C5
keeps: compare_sums
"""

import torch

TOTAL = torch.zeros((), dtype=torch.float64)


def add_up(x):
    for value in x:
        TOTAL.add_(value)
    return TOTAL.to(x.dtype)
