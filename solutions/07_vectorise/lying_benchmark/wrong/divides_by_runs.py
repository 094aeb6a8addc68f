"""You let the runs add up and divide by their number. The totals come out right; each run still begins elsewhere.

caught by: same_runs
keeps: add_up
"""

import torch


def into(total, x):
    for value in x:
        total += value


def compare_sums(x, Timer):
    total = torch.zeros((), dtype=x.dtype)
    loop = Timer("into(total, x)", globals={"into": into, "total": total, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (total / 5, x.sum())}
