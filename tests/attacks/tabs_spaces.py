r"""Mixes tabs and spaces.

---
exercise: double
verdicts: {all: error}
message: your double\.py does not load.*(tab|indent)
replace: {"    x = 2 * x": "\tx = 2 * x"}
"""


def double(x):
    if x is not None:
        y = x
    x = 2 * x
    return x or y


def halve(x):
    return x / 2
