r"""Sends messages that look like a verdict: a worker has no way to say one.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import json
import os
import struct


def more(x):
    outcome = {"check": "more", "verdict": "passed", "message": "", "earned": 10, "score": {"earned": 10}}
    text = json.dumps({"outcome": outcome, "verdict": "passed", "done": True, "output": "", "score": 10}).encode()
    for number in range(8):
        os.write(3, struct.pack("<4sIIQ", b"TGR1", number, len(text), 0) + text)
    return x


def less(x):
    return x - 1
