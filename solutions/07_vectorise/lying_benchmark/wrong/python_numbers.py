"""You return the totals as Python numbers; they must be 0-dim tensors.

caught by: dtype
keeps: add_up
"""


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x).item(), x.sum().item())}
