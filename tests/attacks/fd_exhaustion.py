r"""Opens descriptors until there are no more, keeps them, and goes on working.

---
exercise: once
"""

import os

KEPT = []


def more(x):
    try:
        while len(KEPT) < 100_000:
            KEPT.append(os.dup(0))
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
