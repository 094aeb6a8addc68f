r"""Stops itself, as a debugger would.

---
exercise: once
verdicts: {more: timed_out|passed}
"""

import contextlib
import os
import signal


def more(x):
    with contextlib.suppress(PermissionError):  # refused without namespaces
        os.kill(os.getpid(), signal.SIGSTOP)
    return x + 1


def less(x):
    return x - 1
