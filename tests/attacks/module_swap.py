r"""Puts something else where its module stood, and changes its names while it runs.

---
exercise: double
"""

import sys

OWN = globals()


class Other:
    def __getattr__(self, name):
        raise RuntimeError(name)


sys.modules[__name__] = Other()


def double(x):
    OWN["double"] = lambda x: 2 * x
    OWN["__file__"] = "/etc/passwd"
    OWN["__name__"] = "grader.check_process.plugin"
    return 2 * x


def halve(x):
    return x / 2
