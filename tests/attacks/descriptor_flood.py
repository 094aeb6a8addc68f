r"""Sends hundreds of descriptors over its channel.

---
exercise: once
verdicts: {more: crashed|passed}
"""

import os
import socket


def more(x):
    channel = socket.socket(fileno=os.dup(3))
    pipes = [end for _ in range(60) for end in os.pipe()]
    for _ in range(5):
        socket.send_fds(channel, [b"T"], pipes)
    return x + 1


def less(x):
    return x - 1
