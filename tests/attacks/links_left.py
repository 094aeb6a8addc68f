r"""Leaves links, pipes, sockets and odd names behind, for whoever cleans up.

---
exercise: once
"""

import os
import socket

NAMES = ["a\nb", "-rf", "\udcff", "*", " ", "x" * 250, "$(touch wall_marker)"]


def more(x):
    home = os.getcwd()
    for number, target in enumerate(("/", "..", "../..", "/etc", os.path.expanduser("~"), ".", home)):
        os.symlink(target, f"link{number}")
    for call, name in ((os.mkfifo, "pipe"), (os.mkdir, "folder")):
        try:
            call(name)
        except OSError:
            continue
    for name in NAMES:
        os.mkdir(name)
        open(f"{name}/{name}", "wb").close()
    try:
        socket.socket(socket.AF_UNIX).bind("plug")
    except OSError:
        pass
    return x + 1


def less(x):
    return x - 1
