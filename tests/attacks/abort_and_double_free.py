r"""Aborts in one function, frees a bad pointer in the other.

---
exercise: double
verdicts: {all: crashed}
message: your `double` crashed Python itself \(SIGABRT\)
"""

import ctypes
import os


def double(x):
    os.abort()


def halve(x):
    ctypes.CDLL(None).free(ctypes.c_void_p(0x1001))
    return x / 2
