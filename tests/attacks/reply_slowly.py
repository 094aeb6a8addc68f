r"""Answers one byte at a time, so that something always seems to happen.

---
exercise: once
verdicts: {more: timed_out|crashed}
"""

import os
import time


def more(x):
    for byte in b"TGR1" + bytes(1000):
        os.write(3, bytes([byte]))
        time.sleep(0.2)
    return x + 1


def less(x):
    return x - 1
