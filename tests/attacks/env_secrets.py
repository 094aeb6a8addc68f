r"""Prints its environment, as Python, the kernel and the C library know it.

---
exercise: double
shown_output: PATH|HOME
"""

import ctypes
import os


def c_environment():
    rows = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    number = 0
    while rows[number]:
        yield rows[number].decode("utf-8", "replace")
        number += 1


def look():
    names = [f"{name}={value}" for name, value in os.environ.items()]
    try:
        with open("/proc/self/environ", encoding="utf-8", errors="replace") as file:
            names += file.read().split("\0")
    except OSError:
        pass
    names += c_environment()
    for row in dict.fromkeys(names):
        if any(word in row.upper() for word in ("SECRET", "CANARY", "TOKEN", "PASSWORD")):
            print("BREACH:", row)
        print(row)


look()


def double(x):
    return 2 * x


def halve(x):
    return x / 2
