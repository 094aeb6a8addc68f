"""The benchmark that lies

Benchmarks like this one report that `sum` is thousands of times as fast as a loop. But it makes its accumulator once,
so that each timed run adds to what the last one left. `timeit(3)` runs a statement twice to warm up, then three times:
five runs over ten ones leave 50. The code also hides Python's own `sum`.

    >>> from torch.utils.benchmark import Timer
    >>> compare_sums(torch.ones(10), Timer)["totals"]  # after the fix
    (tensor(10.), tensor(10.))

C1  `compare_sums(x, Timer)` times with Timer how x is added up by a loop and by x.sum(). It returns a dict of floats:
    "loop" and "sum", the `median` of each measurement in seconds, and "speedup", the first divided by the second.
C2  All runs of a timed statement do the same work, the warm-up too: no run continues where the last one ended.
C3  Only the adding up is timed. For "loop": one PyTorch addition for each entry (you may skip the first); a run may
    also make or clear its start. For "sum": the single operation that gives the total, without `.item()` or `float`.
    Taking the entries out of x, and Python's own work, do not count.
C4  The name `sum` stays Python's own, in your file and in what is timed. (x.sum is fine, and "sum" as a key.)
C5  The dict also has "totals": a tuple of the total of x by the loop and by x.sum(), two 0-dim tensors of the dtype of
    x. A second call returns the same totals.
C6  x is not changed.

x is a 1-D floating-point CPU tensor of three or more entries. Timer is torch.utils.benchmark.Timer or a stand-in.
"""

import torch


def add_up(sum, x):
    for value in x:
        sum += value


def compare_sums(x: torch.Tensor, Timer: type) -> dict[str, object]:
    sum = torch.zeros((), dtype=x.dtype)  # TODO: who writes into this, and how often?
    loop = Timer("add_up(sum, x)", globals={"add_up": add_up, "sum": sum, "x": x}).timeit(3).median
    whole = Timer("sum.copy_(x.sum())", globals={"sum": torch.zeros(()), "x": x}).timeit(3).median  # TODO
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (sum, x.sum())}
