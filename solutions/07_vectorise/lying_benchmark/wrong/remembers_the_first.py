"""You keep the first result and give it again. From the second run on, the timed statement does no work.

caught by: same_runs
keeps: compare_sums
"""

import torch

KNOWN = {}


def add_up(x):
    if id(x) not in KNOWN:
        total = torch.zeros((), dtype=x.dtype)
        for value in x:
            total += value
        KNOWN[id(x)] = x, total
    return KNOWN[id(x)][1]
