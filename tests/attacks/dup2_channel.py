r"""Puts its channel where its output was, and prints.

---
exercise: once
verdicts: {more: crashed}
message: your `more` broke the connection to the grader
"""

import os


def more(x):
    os.dup2(3, 1)
    print("hello " * 20, flush=True)
    return x + 1


def less(x):
    return x - 1
