"""You take the time of all runs together, which is what raw_times holds; return the time of one run.

caught by: other_seconds
keeps: add_up
"""


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).raw_times[0]
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).raw_times[0]
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
