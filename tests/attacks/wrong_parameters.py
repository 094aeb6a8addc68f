r"""Has the function with other parameters.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
message: your function is double\(x, factor\); keep the starter's parameters
"""


def double(x, factor):
    return factor * x


def halve(x):
    return x / 2
