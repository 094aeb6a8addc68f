r"""Returns NaN, which some comparisons let through.

---
exercise: double
verdicts: {small: failed, random: failed, dtype: failed}
message: NaN where a number is expected
"""


def double(x):
    return x * float("nan")


def halve(x):
    return x / 2
