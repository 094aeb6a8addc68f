r"""Begins with a byte order mark, as some editors write it.

---
exercise: double
bytes: bom
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
