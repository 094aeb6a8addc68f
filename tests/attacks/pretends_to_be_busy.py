r"""Answers and keeps a second process busy, so that the next call is late.

---
exercise: once
verdicts: {less: passed|timed_out, less_random: passed|timed_out}
"""

import os
import time


def more(x):
    for _ in range(6):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                pass
            os._exit(0)
    return x + 1


def less(x):
    return x - 1
