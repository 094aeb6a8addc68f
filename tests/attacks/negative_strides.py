r"""Describes a tensor that begins before its memory.

---
exercise: once
verdicts: {more: crashed}
message: your `more` sent the grader a value that it cannot read
"""

import sys

encoder = sys.modules["grader.wire.encode"].Encoder
describe = encoder._tensor_row


def below(self, *args):
    row = describe(self, *args)
    return [*row[:3], [-1], 1, *row[5:]]


def more(x):
    encoder._tensor_row = below
    return x + 1


def less(x):
    return x - 1
