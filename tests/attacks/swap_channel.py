r"""Puts another socket in place of its channel and lives on.

---
exercise: once
verdicts: {more: crashed}
message: your `more` closed the connection to the grader
"""

import os
import time


def more(x):
    os.dup2(0, 3)
    time.sleep(1000)


def less(x):
    return x - 1
