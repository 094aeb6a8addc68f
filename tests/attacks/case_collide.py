r"""Hands in names that differ in case, or in how an accent is written.

---
exercise: double
files: {Double.py: "1 / 0\n", DOUBLE.PY: "1 / 0\n", "caf\u00e9.py": "X = 1\n", "cafe\u0301.py": "X = 2\n"}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
