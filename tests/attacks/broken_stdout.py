r"""Breaks the streams that Python prints to.

---
exercise: double
"""

import os
import sys


class Broken:
    def write(self, text):
        raise OSError("broken")

    def __getattr__(self, name):
        raise KeyboardInterrupt(name)


sys.stdout = None
sys.stderr = Broken()
sys.__stdout__ = sys.__stderr__ = Broken()
os.close(1)
os.close(2)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
