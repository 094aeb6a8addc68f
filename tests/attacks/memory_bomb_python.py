r"""Doubles a bytearray until there is no memory left.

---
exercise: once
verdicts: {more: over_limit}
message: more memory than the exercise allows
"""


def more(x):
    data = bytearray(1 << 20)
    while len(data) < 1 << 36:
        data.extend(bytes(len(data)))
    return x + 1


def less(x):
    return x - 1
