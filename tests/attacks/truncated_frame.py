r"""Announces a message and never sends the rest of it.

---
exercise: once
verdicts: {more: crashed|timed_out}
message: your `more`
"""

import os
import struct
import time


def more(x):
    os.write(3, struct.pack("<4sIIQ", b"TGR1", 2, 1000, 0) + b'{"result":')
    time.sleep(1000)


def less(x):
    return x - 1
