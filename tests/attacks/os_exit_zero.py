r"""Ends the process with status 0 in the midst of a call: success is not an answer.

---
exercise: once
verdicts: {more: crashed}
message: your `more` ended Python before it returned \(exit status 0\)
"""

import os


def more(x):
    os._exit(0)


def less(x):
    return x - 1
