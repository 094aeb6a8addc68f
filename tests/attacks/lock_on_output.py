r"""Locks its output by every way there is.

---
exercise: once
shown_output: locked
"""

import fcntl


def more(x):
    for call in (fcntl.flock, fcntl.lockf):
        try:
            call(1, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
    print("locked")
    return x + 1


def less(x):
    return x - 1
