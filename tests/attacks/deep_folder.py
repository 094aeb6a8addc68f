r"""Hands in a file a thousand folders deep: who walks there by a call for each level does not come back.

---
exercise: double
deep: {n: 1000}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
