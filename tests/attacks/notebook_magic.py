r"""Comes from a notebook, with a command in it.

---
exercise: double
verdicts: {all: error}
message: SyntaxError
replace: {MAGIC: "%pip install torch\n!ls"}
"""

MAGIC


def double(x):
    return 2 * x


def halve(x):
    return x / 2
