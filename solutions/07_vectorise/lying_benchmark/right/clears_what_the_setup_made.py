"""The setup makes an accumulator for the warm-up and one for the timed runs; each run clears it."""


def sum_into(total, x):
    total.zero_()
    for value in x:
        total += value
    return total


def compare_sums(x, Timer):
    names = {"sum_into": sum_into, "x": x}
    loop = Timer("sum_into(total, x)", setup="total = torch.zeros((), dtype=x.dtype)", globals=names).timeit(3).median
    whole = Timer("x.sum()", globals=names).timeit(3).median
    totals = sum_into(x.new_zeros(()), x), x.sum()
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": totals}
