r"""Kills every process that it may signal, which is only itself.

---
exercise: once
verdicts: {more: crashed|passed}
level: full
"""

import os
import signal


def more(x):
    if os.getcwd() == "/home/student/work":  # behind the wall alone
        for target in (0, -1):
            try:
                os.kill(target, signal.SIGKILL)
            except OSError:
                continue
    return x + 1


def less(x):
    return x - 1
