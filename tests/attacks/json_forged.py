r"""Sends JSON by hand, with keys twice, numbers that are none, and depth.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import os
import struct


def more(x):
    text = b'{"result": NaN, "result": Infinity, "objects": {"new": [], "new": -Infinity}, "x": ' + b"[" * 100_000
    os.write(3, struct.pack("<4sIIQ", b"TGR1", 2, len(text), 0) + text)
    return x + 1


def less(x):
    return x - 1
