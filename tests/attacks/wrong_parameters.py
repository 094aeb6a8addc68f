r"""Has the function with other parameters.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
message: yours is double\(x, factor\); keep the parameters of the starter
"""


def double(x, factor):
    return factor * x


def halve(x):
    return x / 2
