r"""Sends a gigabyte of nothing as part of its reply: the other side must not hold it all.

---
exercise: once
verdicts: {more: crashed|timed_out|over_limit}
"""

import os
import socket
import struct


def more(x):
    size = (1 << 30) - 1
    channel = socket.socket(fileno=os.dup(3))
    channel.setblocking(True)
    channel.sendall(struct.pack("<4sIIQ", b"TGR1", 2, 2, size) + b"{}")
    part = bytes(1 << 22)
    for _ in range(size // len(part) + 1):
        channel.sendall(part)
    return x + 1


def less(x):
    return x - 1
