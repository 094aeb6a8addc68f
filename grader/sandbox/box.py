"""A box: namespaces of its own around one worker, held by a process of a few megabytes, which is process 1 in there.

The worker joins a box that is ready; so it pays neither for making it nor for a second fork, and a signal that ends it
is seen as what it was. When the box's process is ended, the kernel ends everything in the box with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import struct

from grader.sandbox import kernel, view

USER = 1000
"""User and group as seen inside."""

DISK_MB = 192
FILES = 8192

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1


def enter() -> None:
    """Enter new namespaces.

    Raises:
        OSError: the kernel refuses, or gives no more of them.
    """
    kernel.unshare(kernel.OF_A_BOX)


def furnish(proc: int, around: int) -> None:
    """Set up the namespaces that were entered: a private file system, the loopback device, another user.

    Args:
        proc: a descriptor of a proc file system's folder.
        around: user and group of this process in the namespace around it.

    Raises:
        OSError: the kernel refuses a step.
    """
    kernel.map_user(proc, USER, around, around)
    view.mount_private(DISK_MB, FILES)
    with contextlib.suppress(PermissionError):  # filtered in some containers; then it keeps the container's name
        socket.sethostname("worker")
    # A new network has a loopback device that is down. Ranks of one worker talk over it.
    _loopback_up()


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def hold() -> None:
    """Keep the box until this process is ended: give up all privileges, and reap what nobody else does.

    It stays traceable, or nobody could join; what lives in the box has no system call to trace with.
    """
    # It was root in here so as to furnish the place, and needs nothing of that to wait.
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    # `sigwait` takes signals that are blocked; a child that ends between two rounds stays pending. Nothing else may
    # interrupt this process, which is ended by SIGKILL from outside.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        signal.sigwait({signal.SIGCHLD})
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
