r"""Tells a hidden number by the status with which it ends Python, and by the signal.

---
exercise: double
verdicts: {dtype: crashed, halves_random: crashed}
never: exit status|SIG[A-Z]+
"""

import os


def double(x):
    if x.dtype.is_floating_point:
        return 2 * x
    os._exit(100 + int(x[0]) % 100)


def halve(x):
    if x.dim() == 1:
        return x / 2
    os.kill(os.getpid(), 6 + int(x.sum()) % 3)
