r"""Keeps memory in files that have no name, which no limit on memory or on its folder counts.

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
