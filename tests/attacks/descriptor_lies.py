r"""Announces shared memory and sends a pipe, a folder, or memory that is too short.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import os
import socket
import struct


def more(x):
    channel = socket.socket(fileno=os.dup(3))
    frame = struct.pack("<4sIIQ", b"TGR1", 2, 2, (1 << 29) | (1 << 63)) + b"{}"
    memory = os.memfd_create("short")
    os.ftruncate(memory, 100)
    for descriptor in (memory, os.pipe()[0], os.open(".", os.O_RDONLY)):
        socket.send_fds(channel, [frame], [descriptor])
    return x + 1


def less(x):
    return x - 1
