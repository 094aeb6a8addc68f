r"""Prints without end and without a line end, to both streams.

---
exercise: once
verdicts: {more: over_limit}
message: your `more` printed more than 0\.25 MB
shown_output: ^spam
"""

import sys


def more(x):
    while True:
        sys.stdout.write("spam" * 1000)
        sys.stderr.write("spam" * 1000)


def less(x):
    return x - 1
