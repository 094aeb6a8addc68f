r"""Cancels the setting that ends it together with the grader, and leaves its session.

---
exercise: once
verdicts: {more: timed_out}
level: full
"""

import ctypes
import os
import time


def more(x):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        time.sleep(20)
        os._exit(0)
    time.sleep(20)


def less(x):
    return x - 1
