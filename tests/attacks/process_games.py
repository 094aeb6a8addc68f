r"""Changes its own name, parent's care, dumping and children, as far as the kernel lets it.

---
exercise: once
"""

import ctypes
import os

LIBC = ctypes.CDLL(None)


def more(x):
    for number, value in ((1, 0), (4, 1), (36, 1), (24, 0), (8, 1), (28, 0), (41, 1), (22, 0)):
        LIBC.prctl(number, value, 0, 0, 0)
    LIBC.prctl(15, b"] 60 / 60\n", 0, 0, 0)
    LIBC.personality(0x0040000)
    try:
        os.setpgid(0, 0)
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
