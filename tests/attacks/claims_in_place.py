r"""Says of its argument that it was changed in place, which it was not.

---
exercise: window
verdicts: {adds: failed|crashed, adds_to_itself: failed|crashed, view_random: failed|passed}
"""

import sys

outgoing = sys.modules["grader.wire.outgoing"]
describe = outgoing.describe_tensor


def changed(tensor, *args):
    told = describe(tensor, *args)
    return told._replace(claims=told.claims._replace(version=told.claims.version + 1))


outgoing.describe_tensor = changed


def window(x, start, size):
    return x[start : start + size]


def add_into(a, b):
    return a + b
