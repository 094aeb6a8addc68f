r"""Hands in another file that nobody may read; nothing needs it.

---
exercise: double
odd: {notes.py: unreadable, folder.py: folder, pipe.py: fifo, socket.py: socket}
unless: root
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
