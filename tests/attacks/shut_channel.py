r"""Closes one direction of its channel, then the other.

---
exercise: once
verdicts: {more: crashed}
message: your `more`
"""

import os
import socket


def more(x):
    channel = socket.socket(fileno=os.dup(3))
    channel.shutdown(socket.SHUT_WR)
    return x + 1


def less(x):
    return x - 1
