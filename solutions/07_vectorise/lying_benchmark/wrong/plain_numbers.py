"""You take the numbers out of PyTorch before you loop. That is another loop, and a much faster one.

caught by: only_adding
breaks: C1, C3
keeps: compare_sums
"""

import torch


def add_up(x):
    total = 0.0
    for number in x.tolist():
        total += number
    return torch.tensor(total, dtype=x.dtype)
