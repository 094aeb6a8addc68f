r"""Announces a message of four gigabytes.

---
exercise: once
verdicts: {more: crashed}
message: your `more` broke the connection to the grader
"""

import os
import struct


def more(x):
    os.write(3, struct.pack("<4sIIQ", b"TGR1", 2, (1 << 32) - 1, 1 << 62))
    return x + 1


def less(x):
    return x - 1
