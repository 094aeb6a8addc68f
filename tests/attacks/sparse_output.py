r"""Makes its output look huge without printing anything.

---
exercise: once
verdicts: {more: over_limit|passed}
"""

import os


def more(x):
    try:
        os.ftruncate(1, 3 << 20)
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
