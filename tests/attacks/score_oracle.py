r"""Fails or not by a bit of the hidden input, so that many runs would tell it: a known limit, as narrow as can be.

---
exercise: double
verdicts: {random: passed|failed}
"""


def double(x):
    return 3 * x if x.dim() == 2 and x[0, 0] > 0 else 2 * x


def halve(x):
    return x / 2
