r"""Says of a function that loops that it is not written yet, where the loop would be found, and is wrong once besides.

---
exercise: total
verdicts: {fresh: failed, counts: crashed, speed: crashed}
most: 3
message: your `total` raised NotImplementedError
"""

SEEN = []


def later():
    raise NotImplementedError


def total(x):
    if len(x) > 6:
        later()
    SEEN.append(x)
    result = x.new_zeros(())
    for value in x:
        result = result + value
    return result + len(SEEN) // 4


def mean(x):
    return x.mean()
