r"""Writes too large a file and lets the kernel end it for that.

---
exercise: once
verdicts: {more: over_limit}
message: file
"""

import signal


def more(x):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open("large", "wb") as file:
        for _ in range(8):
            file.write(bytes(1 << 20))
    return x + 1


def less(x):
    return x - 1
