r"""Ends, and leaves a child behind that answers in its place.

---
exercise: once
verdicts: {more: crashed|passed|over_limit, less: passed|crashed, less_random: passed|crashed}
"""

import os


def more(x):
    if os.fork() != 0:
        os._exit(0)
    os.setsid()
    return x + 1


def less(x):
    return x - 1
