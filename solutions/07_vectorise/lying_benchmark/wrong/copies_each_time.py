"""What is timed does more than the sum, such as copying x first. Reading x changes nothing, and the copy is measured
too.

caught by: only_adding
keeps: add_up
"""


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("x.clone().sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
