r"""Raises what is no Exception: SystemExit in one function, a class of its own in the other.

---
exercise: double
verdicts: {all: crashed}
message: exit\(\)
"""

import sys


class Over(BaseException):
    pass


def double(x):
    sys.exit(0)


def halve(x):
    if x.numel() == 3:
        raise GeneratorExit
    raise Over
