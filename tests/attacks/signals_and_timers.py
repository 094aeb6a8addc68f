r"""Leaves a timer running whose handler raises.

---
exercise: double
"""

import signal


def ring(*args):
    raise RuntimeError("the timer of another call")


def double(x):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.001)  # later than the call itself takes
    return 2 * x


def halve(x):
    return x / 2
