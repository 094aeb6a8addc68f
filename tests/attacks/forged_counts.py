r"""Replaces what counts its operations: it loops, and says that it does not.

---
exercise: total
verdicts: {counts: failed}
"""

import sys


def counted(function, *args, **kwargs):
    return function(*args, **kwargs), {"sum": 1}


sys.modules["grader.worker.probes"].count_operations = counted


def total(x):
    return sum(x, x.new_zeros(()))


def mean(x):
    return x.mean()
