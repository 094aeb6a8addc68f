r"""Ignores and blocks every signal that can be, then loops.

---
exercise: once
verdicts: {more: timed_out}
message: your `more` did not finish
"""

import signal


def more(x):
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


def less(x):
    return x - 1
