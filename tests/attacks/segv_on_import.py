r"""Dereferences a null pointer while it is imported.

---
exercise: double
verdicts: {all: crashed}
message: your double\.py crashed Python itself \(SIGSEGV\)
"""

import ctypes

ctypes.string_at(0)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
