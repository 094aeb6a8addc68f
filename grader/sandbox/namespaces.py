"""The namespaces of a worker. It is process 1 in them: when it ends, the kernel ends all that it has started."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from grader.sandbox import kernel, view

if sys.platform != "win32":  # workers import this on every system
    import fcntl

_USER = 1000
"""User and group as seen inside."""

_DISK_MB = 192
_FILES = 8192

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_FAILED = 77

AT_ONCE = 5
"""Workers that one lane may need at once: the student's for two kinds of devices, a reference's, and a timed pair."""

# The kernel takes old namespaces apart later than it counts them.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0)

Result = TypeVar("Result")


def fork_apart(proc: int, here: int) -> int:
    """Fork a process into namespaces of its own: 0 in the child, once they are set up, its pid in the parent.

    Args:
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.

    Raises:
        OSError: the kernel refuses a step.
    """
    read, write = os.pipe()
    with os.fdopen(read, "rb") as pipe:
        try:
            kernel.unshare(kernel.CLONE_NEWPID)  # for the next child, not for this process
            try:
                pid = os.fork()
            except OSError:
                kernel.setns(here, kernel.CLONE_NEWPID)
                raise
            if pid == 0:
                _set_up(proc, write)
                return 0
            # Back to our own: once the child has ended, nothing can be forked into its namespace.
            kernel.setns(here, kernel.CLONE_NEWPID)
        finally:
            os.close(write)  # so that reading ends when the child has closed its end, too
        refused = pipe.read()
    if refused:
        number, _, text = refused.decode("utf-8", "replace").partition(" ")
        with contextlib.suppress(ChildProcessError):  # where SIGCHLD is ignored
            os.waitpid(pid, 0)
        raise OSError(int(number), text)
    return pid


def _set_up(proc: int, answer: int) -> None:
    """Enter the other namespaces, and furnish them; where that fails, say why, and end."""
    try:
        kernel.unshare(kernel.OF_A_WORKER)
        _furnish(proc)
    except OSError as error:
        os.write(answer, f"{error.errno} {error.strerror}".encode())
        os._exit(_FAILED)


def require_room(proc: int) -> None:
    """See whether there can be as many workers as may be needed at once.

    Raises:
        OSError: the kernel refuses a step, or that many.
    """
    here, pids = os.pidfd_open(os.getpid()), list[int]()
    try:
        while len(pids) < AT_ONCE:
            pid = patiently(lambda: fork_apart(proc, here))
            if pid == 0:
                signal.pause()
            pids.append(pid)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        some = f"there is room for {len(pids)} workers at once: {error.strerror}"
        raise OSError(error.errno, some) from None
    finally:
        os.close(here)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _furnish(proc: int) -> None:
    """Set up the namespaces that were entered: a private file system, the loopback device, another user.

    Args:
        proc: a descriptor of a proc file system's folder.

    Raises:
        OSError: the kernel refuses a step.
    """
    kernel.map_user(proc, _USER, 0, 0)  # root of the namespaces around it
    view.mount_private(_DISK_MB, _FILES)
    with contextlib.suppress(PermissionError):  # filtered in some containers; then it keeps the container's name
        socket.sethostname("worker")
    # A new network has a loopback device that is down. Ranks of one worker talk over it.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def patiently(action: Callable[[], Result]) -> Result:
    """What an action gives, which is tried again for a while as long as there are no namespaces left.

    Raises:
        OSError: it failed for another reason, or for that one all the time.
    """
    for pause in _PAUSES_S:
        try:
            return action()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            time.sleep(pause)
    return action()
