r"""Closes its channel.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import os


def more(x):
    os.close(3)
    return x + 1


def less(x):
    return x - 1
