r"""Loops for ever in C code, which no signal handler or thread of Python's own can end.

---
exercise: once
verdicts: {more: timed_out}
message: your `more` did not finish in 0\.5 seconds
"""

import itertools


def more(x):
    return sum(itertools.repeat(0))


def less(x):
    return x - 1
