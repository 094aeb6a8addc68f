r"""Leaves fifteen hundred folders in folders behind, for whoever cleans up.

---
exercise: once
"""

import os


def more(x):
    try:
        for _ in range(1500):  # Landlock looks at all folders above: twice as many take four times as long
            os.mkdir("d")
            os.chdir("d")
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
