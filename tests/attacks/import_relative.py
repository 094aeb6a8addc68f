r"""Imports a file of its own as if it were in a package.

---
exercise: double
verdicts: {all: error}
message: your double\.py does not load.*ImportError
files: {mine.py: "FACTOR = 2\n"}
"""

from .mine import FACTOR


def double(x):
    return FACTOR * x


def halve(x):
    return x / 2
