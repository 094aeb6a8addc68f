r"""Sends a request to start a worker that has PyTorch, through every open file descriptor.

---
exercise: steps
verdicts: {small: crashed|timed_out, alone: failed|timed_out|crashed, random: crashed|timed_out}
level: full
"""

import os
import socket


def steps(shape):
    for number in range(256):
        try:
            end = socket.socket(fileno=os.dup(number))
            socket.send_fds(end, [b'{"StartWorker": {"folder": "."}}'], [number])
        except OSError:
            continue
    import torch

    return torch.empty(shape).stride()
