r"""Leaves thousands of folders in folders behind, for whoever cleans up.

---
exercise: once
"""

import os


def more(x):
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
