r"""Hands in files that test runners and the interpreter read by themselves.

---
exercise: double
verdicts: {small: failed, random: failed, dtype: failed}
"""


def double(x):
    return 3 * x


def halve(x):
    return x / 2
