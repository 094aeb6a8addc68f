r"""Dereferences a null pointer in one function; the other one is honest and keeps its points.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
message: your `double` crashed Python itself \(SIGSEGV\)
"""

import ctypes


def double(x):
    return ctypes.string_at(0)


def halve(x):
    return x / 2
