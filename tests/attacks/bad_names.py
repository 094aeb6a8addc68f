r"""Hands in a file whose name is not text.

---
exercise: double
files: {"\udcff\udc80.py": "X = 1\n"}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
