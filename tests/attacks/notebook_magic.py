r"""Comes from a notebook, with commands in it, which are left out.

---
exercise: double
replace: {MAGIC: "%pip install torch\n!ls"}
"""

MAGIC


def double(x):
    return 2 * x


def halve(x):
    return x / 2
