"""You make the accumulator in the setup. The setup runs before the warm-up and before the timed runs, not before each
run.

caught by: same_runs
keeps: add_up
"""


def into(total, x):
    for value in x:
        total += value


def compare_sums(x, Timer):
    fresh = "total = torch.zeros((), dtype=x.dtype)"
    loop = Timer("into(total, x)", setup=fresh, globals={"into": into, "x": x}).timeit(3).median
    whole = Timer("x.sum()", globals={"x": x}).timeit(3).median
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
