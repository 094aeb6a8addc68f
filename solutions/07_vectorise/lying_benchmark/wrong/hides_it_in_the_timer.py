"""You give Timer a global that is called `sum`. In the timed statement, the name is then no longer Python's.

caught by: name
keeps: add_up
"""

import torch


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("sum(x)", globals={"sum": torch.sum, "x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
