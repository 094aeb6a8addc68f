"""PyTorch's own choice of how often to run, an accumulator within the statement, and a running total without `+=`."""

import torch

LOOP = """
total = torch.zeros((), dtype=x.dtype)
for i in range(len(x)):
    total = total + x[i]
"""


def compare_sums(x, Timer):
    seconds = {
        "loop": Timer(LOOP, globals={"x": x}).blocked_autorange().median,
        "sum": Timer("torch.sum(x, dim=0)", globals={"x": x}).blocked_autorange().median,
    }
    by_loop = x[0]
    for value in x[1:]:
        by_loop = by_loop + value
    return seconds | {"speedup": seconds["loop"] / seconds["sum"], "totals": (by_loop, torch.sum(x))}
