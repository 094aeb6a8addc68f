r"""Describes a tensor whose size overflows when it is multiplied.

---
exercise: once
verdicts: {more: crashed}
message: your `more` gave the grader something it cannot take
"""

import sys

outgoing = sys.modules["grader.wire.outgoing"]
describe = outgoing.describe_tensor


def huge(tensor, *args):
    told = describe(tensor, *args)
    lie = {"shape": [1 << 45, 1 << 45, 4], "strides": [4, 4, 1], "offset": 1 << 40}
    return told._replace(layout=told.layout._replace(**lie))


def more(x):
    outgoing.describe_tensor = huge
    return x + 1


def less(x):
    return x - 1
