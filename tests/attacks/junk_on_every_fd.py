r"""Writes junk to every descriptor.

---
exercise: once
verdicts: {more: crashed}
message: your `more` broke the connection to the grader
"""

import os


def more(x):
    for fd in range(64):
        try:
            os.write(fd, os.urandom(64))
        except OSError:
            continue
    return x + 1


def less(x):
    return x - 1
