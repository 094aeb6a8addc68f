"""What is timed does more than the sum, such as clearing an accumulator: one operation alone is to be measured.

caught by: only_adding
keeps: add_up
"""

import torch


def compare_sums(x, Timer):
    total = torch.zeros((), dtype=x.dtype)
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("total.zero_().add_(x.sum())", globals={"total": total, "x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), total)}
