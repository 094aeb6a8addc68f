r"""Returns a wrong shape where a loop would be found, so that the rule is not examined, and is wrong once besides.

---
exercise: total
verdicts: {fresh: failed, speed: failed}
most: 3
"""

SEEN = []


def total(x):
    if len(x) > 6:
        return x[:2]
    SEEN.append(x)
    result = x.new_zeros(())
    for value in x:
        result = result + value
    return result + len(SEEN) // 4


def mean(x):
    return x.mean()
