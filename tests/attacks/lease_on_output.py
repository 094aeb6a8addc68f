r"""Takes a lease on its output, which makes whoever opens it wait.

---
exercise: once
shown_output: leased|no lease
"""

import fcntl
import signal

signal.signal(signal.SIGIO, signal.SIG_IGN)


def more(x):
    try:
        fcntl.fcntl(1, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        print("leased")
    except OSError:
        print("no lease")
    return x + 1


def less(x):
    return x - 1
