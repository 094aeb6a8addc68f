r"""Imports a file of its own, as one may.

---
exercise: double
files: {mine.py: "FACTOR = 2\n"}
"""

from mine import FACTOR


def double(x):
    return FACTOR * x


def halve(x):
    return x / 2
