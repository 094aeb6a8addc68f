r"""Leaves a timer running whose handler raises.

---
exercise: double
"""

import signal


def ring(*args):
    raise RuntimeError("the timer of another call")


def double(x):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.001)
    return 2 * x


def halve(x):
    return x / 2
