r"""Loops, and reports a thousand million operations, which would explain any time.

---
exercise: total
verdicts: {counts: failed, speed: failed}
"""

import gc


def probes():
    """What was taken before this file was loaded."""
    return next(
        each for each in gc.get_objects() if type(each).__name__ == "SimpleNamespace" and hasattr(each, "poisoned")
    )


real = probes().count


def counted(*args):
    result, found = real(*args)
    return result, {**found, "ops": {"add": 1_000_000_000}}


probes().count = counted


def total(x):
    return sum(x, x.new_zeros(()))


def mean(x):
    return x.mean()
