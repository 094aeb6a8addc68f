r"""Tells something by the number of operations that it claims.

---
exercise: total
verdicts: {counts: passed|failed}
never: '777000111'
"""

import sys

probes = sys.modules["grader.worker.probes"]


def counted(function, *args, **kwargs):
    return function(*args, **kwargs), {"sum": 777_000_111}


probes.count_operations = counted


def total(x):
    return x.sum()


def mean(x):
    return x.mean()
