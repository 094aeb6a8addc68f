"""An accumulator for each call, and nothing around what is timed.

also right: detached
"""

import torch


def add_up(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros((), dtype=x.dtype)
    for value in x:
        total += value
    return total


def compare_sums(x: torch.Tensor, Timer: type) -> dict[str, object]:
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
