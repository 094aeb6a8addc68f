r"""Keeps memory in files without a name, which neither its limit on memory nor that on its folder counts.

---
exercise: once
verdicts: {more: over_limit|crashed}
level: full
"""

import os


def more(x):
    kept = []
    part = bytes(4 << 20)
    for number in range(100):
        kept.append(os.memfd_create(f"part {number}"))
        os.write(kept[-1], part)
    return x + 1


def less(x):
    return x - 1
