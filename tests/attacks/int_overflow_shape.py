r"""Describes a tensor whose size overflows when it is multiplied.

---
exercise: once
verdicts: {more: crashed}
message: your `more` sent the grader a value that it cannot read
"""

import sys

encoder = sys.modules["grader.wire.encode"].Encoder
describe = encoder._tensor_row


def huge(self, *args):
    row = describe(self, *args)
    return [*row[:2], [1 << 45, 1 << 45, 4], [4, 4, 1], 1 << 40, *row[5:]]


def more(x):
    encoder._tensor_row = huge
    return x + 1


def less(x):
    return x - 1
