"""You give the timed runs a clone to write into. All share that one clone, and each goes on where the last one ended.

caught by: same_runs
keeps: add_up
"""

import torch


def into(total, x):
    for value in x:
        total += value


def compare_sums(x, Timer):
    total = torch.zeros((), dtype=x.dtype)
    loop = Timer("into(total, x)", globals={"into": into, "total": total.clone(), "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    into(total, x)
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (total, x.sum())}
