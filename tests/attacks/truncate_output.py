r"""Prints without end, and cuts its output down again each time.

---
exercise: once
verdicts: {more: over_limit|timed_out|crashed}
"""

import os


def more(x):
    while True:
        os.write(1, b"spam" * 10_000)
        os.ftruncate(1, 0)


def less(x):
    return x - 1
