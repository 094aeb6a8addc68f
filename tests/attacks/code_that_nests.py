r"""Has a function that is never called, in which attributes are taken of attributes, as long as Python reads it.

---
exercise: double
repeat: {.CHAIN: [".real", 900]}
"""


def unused(x):
    return x.CHAIN


def double(x):
    return 2 * x


def halve(x):
    return x / 2
