"""Namespaces that one process holds, and into which workers are forked."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn

from grader.sandbox import kernel, view

if sys.platform != "win32":  # workers import this on every system
    import fcntl


REFUSED = 77

_USER = 1000
"""User and group as seen inside."""

_DISK_MB = 192
_FILES = 8192

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1


# -- the namespaces of a worker ----------------------------------------------------------------------------------------


class Namespaces(NamedTuple):
    """Namespaces that a process of ours holds until it is ended; workers are forked into them.

    Attributes:
        holder: the pid of that process, which is process 1 in there.
        pidfd: a descriptor of it.
        of_one: whether one worker, with all that it starts, has them to itself.
    """

    holder: int
    pidfd: int
    of_one: bool


def open_namespaces(proc: int, here: int, *, of_one: bool) -> Namespaces:
    """Make namespaces for workers: of processes, an empty network, and no shared memory but their own.

    Those of one worker are furnished with a user, a private file system and a loopback device, over which its processes
    talk. Workers that share some have the rest of their own.

    Args:
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.
        of_one: whether they are for one worker.

    Raises:
        OSError: the kernel refuses a step.
    """
    set_up = partial(_set_up, proc, of_one=of_one)
    pid = _fork_into(partial(kernel.unshare, kernel.CLONE_NEWPID), set_up, here)
    if pid == 0:
        _wait_until_killed()
    return Namespaces(pid, os.pidfd_open(pid), of_one)


def fork_into(namespaces: Namespaces, proc: int, here: int) -> int:
    """Fork a process into namespaces: 0 in the child, once all is set up there, its pid in the parent.

    The arguments and errors are those of `open_namespaces`.

    Args:
        namespaces: the namespaces that it enters.
        proc: as for `open_namespaces`.
        here: as for `open_namespaces`.
    """
    enter = partial(kernel.setns, namespaces.pidfd, kernel.CLONE_NEWPID)
    return _fork_into(enter, partial(_join, namespaces, proc), here)


def _fork_into(enter: Callable[[], None], set_up: Callable[[], None], here: int) -> int:
    """Call `enter`, fork, and call `set_up` in the child; return when that is done: 0 in the child, its pid here."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as pipe:
        try:
            enter()
            try:
                pid = os.fork()
            except OSError:
                kernel.setns(here, kernel.CLONE_NEWPID)
                raise
            if pid == 0:
                try:
                    set_up()
                except OSError as error:
                    os.write(write, f"{error.errno} {error.strerror}".encode())
                    os._exit(REFUSED)
                return 0
            # Back to our own: nothing else is forked into that namespace by mistake.
            kernel.setns(here, kernel.CLONE_NEWPID)
        finally:
            os.close(write)  # so that reading ends when the child has closed its end, too
        refused = pipe.read()
    if refused:
        number, _, text = refused.decode("utf-8", "replace").partition(" ")
        os.waitpid(pid, 0)
        raise OSError(int(number), text)
    return pid


def _set_up(proc: int, *, of_one: bool) -> None:
    """Enter new namespaces in the process that holds them; those of one worker get a user, files and a loopback."""
    kernel.unshare(kernel.OF_A_WORKER if of_one else kernel.SHARED)
    if of_one:
        kernel.map_user(proc, _USER, 0, 0)  # root of the namespaces around it
        view.mount_private(_DISK_MB, _FILES)
        # A new network has a loopback device that is down. Ranks of one worker talk over it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    with contextlib.suppress(PermissionError):  # filtered in some containers; then it keeps the container's name
        socket.sethostname("worker")


def _join(namespaces: Namespaces, proc: int) -> None:
    """Enter, in a worker, the namespaces that a holder has, and make new ones of the kinds that are not shared."""
    if namespaces.of_one:
        kernel.setns(namespaces.pidfd, kernel.OF_A_WORKER)
    else:
        kernel.setns(namespaces.pidfd, kernel.SHARED)
        kernel.unshare(kernel.OF_A_WORKER & ~kernel.SHARED)
        kernel.map_user(proc, _USER, 0, 0)
        view.mount_private(_DISK_MB, _FILES)


def _wait_until_killed() -> NoReturn:
    """Wait until this process is ended from outside. The kernel reaps what is left when process 1 ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    # It stays traceable, or no worker could join; what lives in there has no system call to trace with.
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.die_with_parent()
    # The sockets of the server among them: a lane must see them close when the server is gone.
    kernel.close_all_but()
    while True:
        signal.pause()
