r"""Leaves folders behind that their owner may not open.

---
exercise: once
"""

import contextlib
import os


def more(x):
    os.makedirs("closed/inner")
    open("closed/inner/file", "wb").close()
    for path in ("closed/inner", "closed", "."):
        with contextlib.suppress(PermissionError):  # refused without namespaces
            os.chmod(path, 0)
    return x + 1


def less(x):
    return x - 1
