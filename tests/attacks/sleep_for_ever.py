r"""Waits and uses no CPU time.

---
exercise: once
verdicts: {more: timed_out}
message: your `more` did not finish
"""

import time


def more(x):
    time.sleep(1000)
    return x + 1


def less(x):
    return x - 1
