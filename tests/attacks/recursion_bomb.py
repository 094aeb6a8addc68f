r"""Recurses through C code until the stack is gone.

---
exercise: once
verdicts: {more: crashed}
message: SIGSEGV|RecursionError
"""

import sys


def more(x):
    sys.setrecursionlimit(10**9)
    return max([x], key=more)


def less(x):
    return x - 1
