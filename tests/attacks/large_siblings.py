r"""Hands in other modules of nearly a megabyte each: they are left out, or come along.

---
exercise: double
large: {one.py: 1000000, two.py: 1000000, three.py: 1000000, four.py: 1000000}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
