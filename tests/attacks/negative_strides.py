r"""Describes a tensor that begins before its memory.

---
exercise: once
verdicts: {more: crashed}
message: your `more` gave the grader something it cannot take
"""

import sys

outgoing = sys.modules["grader.wire.outgoing"]
describe = outgoing.describe_tensor


def below(tensor, *args):
    told = describe(tensor, *args)
    return told._replace(layout=told.layout._replace(strides=[-1], offset=-1))


def more(x):
    outgoing.describe_tensor = below
    return x + 1


def less(x):
    return x - 1
