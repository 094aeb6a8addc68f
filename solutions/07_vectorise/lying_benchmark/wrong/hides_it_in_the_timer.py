"""In the timed statement, `sum` is not Python's own, as when Timer is given a global of that name.

caught by: name
keeps: add_up
"""

import torch


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("sum(x)", globals={"sum": torch.sum, "x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
