r"""Looks for descriptors that were left open, and at what they are.

---
exercise: double
shown_output: looked
"""

import fcntl
import os
import stat

for descriptor in range(1024):
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETFD)
    except OSError:
        continue
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode) or descriptor > 3:
        print("BREACH: descriptor", descriptor, oct(status.st_mode))
    if descriptor in (1, 2) and stat.S_ISREG(status.st_mode):
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        if flags & os.O_ACCMODE != os.O_WRONLY or not flags & os.O_APPEND:
            print("BREACH: descriptor", descriptor, "can be read or wound back")
print("looked")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
