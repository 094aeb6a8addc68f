"""You divide the short time by the long one. How many times as fast: the long one over the short one.

caught by: other_seconds
keeps: add_up
"""


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": whole / loop, "totals": (add_up(x), x.sum())}
