r"""Hands in pipes, sockets and folders with the names of modules beside its own.

---
exercise: double
odd: {folder.py: folder, pipe.py: fifo, plug.py: socket}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
