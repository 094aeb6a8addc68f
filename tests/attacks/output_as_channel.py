r"""Puts its output where its channel was, and answers there.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import os


def more(x):
    os.dup2(1, 3)
    return x + 1


def less(x):
    return x - 1
