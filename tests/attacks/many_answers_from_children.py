r"""Forks inside of a call, so that two processes answer.

---
exercise: once
verdicts: {more: passed|crashed|over_limit, less: passed|crashed, less_random: passed|crashed}
"""

import os


def more(x):
    os.fork()
    return x + 1


def less(x):
    return x - 1
