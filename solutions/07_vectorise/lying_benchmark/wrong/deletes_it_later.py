"""You take the name `sum` and delete it at the end. Until then it is hidden, from all that runs in between too.

caught by: name
keeps: add_up
"""


def compare_sums(x, Timer):
    sum = x.sum()
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    found = {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), sum)}
    del sum
    return found
