r"""Sends datagrams to a socket in a shared folder by its path, which needs no call of `connect`.

---
exercise: once
level: reduced
"""

import os
import socket
import tempfile


def more(x):
    for folder in ("/tmp", "/var/tmp", tempfile.gettempdir()):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socketpair(socket.AF_UNIX, kind)[0].sendto(
                    b"hello", os.path.join(folder, "wall_marker_datagrams")
                )
                print("BREACH: a datagram was sent")
            except OSError:
                pass
    return x + 1


def less(x):
    return x - 1
