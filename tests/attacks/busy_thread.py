r"""Leaves threads behind that count for ever; what it is asked it answers well.

---
exercise: once
verdicts: {more: passed, less: passed|timed_out, less_random: passed|timed_out}
"""

import threading


def spin():
    while True:
        pass


def more(x):
    threading.Thread(target=spin, daemon=True).start()
    return x + 1


def less(x):
    return x - 1
