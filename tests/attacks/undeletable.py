r"""Leaves folders behind that their owner may not open.

---
exercise: once
"""

import os


def more(x):
    os.makedirs("closed/inner")
    open("closed/inner/file", "wb").close()
    os.chmod("closed/inner", 0)
    os.chmod("closed", 0)
    os.chmod(".", 0)
    return x + 1


def less(x):
    return x - 1
