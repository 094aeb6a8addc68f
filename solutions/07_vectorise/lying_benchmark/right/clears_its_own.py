"""One accumulator that each run of the loop clears before it begins."""


def loop_into(total, x):
    total.zero_()
    for value in x.unbind():
        total.add_(value)


def compare_sums(x, Timer):
    total = x.new_empty(())
    names = dict(globals(), total=total, x=x)
    slow = Timer("loop_into(total, x)", globals=names).timeit(100).median
    fast = Timer("x.sum()", globals=names).timeit(100).median
    return {"totals": (total, x.sum()), "loop": slow, "sum": fast, "speedup": slow / fast}
