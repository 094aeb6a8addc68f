r"""Raises an exception whose text is never finished.

---
exercise: once
verdicts: {more: timed_out}
"""


class Endless(ValueError):
    def __str__(self):
        while True:
            pass


def more(x):
    raise Endless


def less(x):
    return x - 1
