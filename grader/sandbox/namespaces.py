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
        private: True if one worker, with all that it starts, has them to itself.
    """

    holder: int
    pidfd: int
    private: bool


class PendingNamespaces(NamedTuple):
    """Namespaces that are being made.

    Attributes:
        holder: see `Namespaces`.
        refusal: a pipe with the error of the step that the kernel refused; it closes when all is set up.
        private: see `Namespaces`.
    """

    holder: int
    refusal: int
    private: bool

    def wait(self) -> Namespaces:
        """Wait until the namespaces are set up, and return them; call this only once.

        Raises:
            OSError: the kernel refuses a step.
        """
        _wait_until_set_up(self.holder, self.refusal)
        return Namespaces(self.holder, os.pidfd_open(self.holder), self.private)


def begin_namespaces(proc: int, here: int, *, private: bool) -> PendingNamespaces:
    """Begin to make namespaces for workers; return a `PendingNamespaces` to wait for them.

    Namespaces of one worker get a user, a private file system and a loopback device, over which its processes talk.
    Namespaces that workers share are of the kinds in `kernel.SHARED`; each worker gets its own of the other kinds when
    it is forked.

    Args:
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.
        private: True if the namespaces are for one worker.

    Raises:
        OSError: the kernel refuses the first step.
    """
    set_up = partial(_set_up_namespaces, proc, private=private)
    pid, refusal = _fork_child(partial(kernel.unshare, kernel.CLONE_NEWPID), set_up, here)
    if pid == 0:
        _wait_until_killed()
    return PendingNamespaces(pid, refusal, private)


def open_namespaces(proc: int, here: int, *, private: bool) -> Namespaces:
    """Make namespaces for workers, and wait until they are set up.

    See `begin_namespaces`.

    Args:
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.
        private: True if the namespaces are for one worker.

    Raises:
        OSError: the kernel refuses a step.
    """
    return begin_namespaces(proc, here, private=private).wait()


def fork_into(namespaces: Namespaces, proc: int, here: int) -> int:
    """Fork a process into namespaces; return its pid in the parent, and 0 in the child.

    The child returns once all is set up there.

    Args:
        namespaces: the namespaces that it enters.
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.

    Raises:
        OSError: the kernel refuses a step.
    """
    enter = partial(kernel.setns, namespaces.pidfd, kernel.CLONE_NEWPID)
    pid, refusal = _fork_child(enter, partial(_join_namespaces, namespaces, proc), here)
    if pid != 0:
        _wait_until_set_up(pid, refusal)
    return pid


def _fork_child(enter: Callable[[], None], set_up: Callable[[], None], here: int) -> tuple[int, int]:
    """Fork a child into the process namespace that `enter` selects; call `set_up` there.

    Args:
        enter: a function that selects the process namespace of the children that this process forks from then on.
        set_up: a function that sets up the child's other namespaces.
        here: a pidfd of this process, with which it selects its own process namespace again after the fork.

    Returns:
        In the parent, at once, the child's pid and a pipe for `_wait_until_set_up`; in the child, after `set_up`,
        0 and -1.

    Raises:
        OSError: the kernel refuses `enter` or the fork.
    """
    read, write = os.pipe()
    try:
        enter()
        try:
            pid = os.fork()
        except OSError:
            kernel.setns(here, kernel.CLONE_NEWPID)
            raise
    except OSError:
        os.close(read)
        os.close(write)
        raise
    if pid == 0:
        os.close(read)
        try:
            set_up()
        except OSError as error:
            os.write(write, f"{error.errno} {error.strerror}".encode())
            os._exit(REFUSED)
        os.close(write)  # which says that all is set up
        return 0, -1
    os.close(write)  # so that reading ends when the child has closed its end, too
    # Back to our own: nothing else is forked into that namespace by mistake.
    kernel.setns(here, kernel.CLONE_NEWPID)
    return pid, read


def _wait_until_set_up(pid: int, refusal: int) -> None:
    """Wait until a child of `_fork_child` has called its `set_up` and closed its pipe.

    Raises:
        OSError: the kernel refused a step of the set-up; the child has ended.
    """
    with os.fdopen(refusal, "rb") as pipe:
        refused = pipe.read()
    if refused:
        number, _, text = refused.decode("utf-8", "replace").partition(" ")
        os.waitpid(pid, 0)
        raise OSError(int(number), text)


def _set_up_namespaces(proc: int, *, private: bool) -> None:
    """Enter new namespaces, in the process that will hold them.

    Namespaces for one worker also get its user, its files and a loopback device.

    Args:
        proc: a descriptor of a proc file system's folder, through which the worker's user is mapped.
        private: True if the namespaces are for one worker.

    Raises:
        OSError: the kernel refuses a step.
    """
    kernel.unshare(kernel.OF_A_WORKER if private else kernel.SHARED)
    if private:
        kernel.map_user(proc, _USER, 0, 0)  # root of the namespaces around it
        view.mount_private(_DISK_MB, _FILES)
        # A new network has a loopback device that is down. Ranks of one worker talk over it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    with contextlib.suppress(PermissionError):  # filtered in some containers; then it keeps the container's name
        socket.sethostname("worker")


def _join_namespaces(namespaces: Namespaces, proc: int) -> None:
    """Enter, in a worker, the namespaces of a holder.

    If workers share these, new namespaces of the other kinds are made for the worker.

    Args:
        namespaces: the namespaces of the holder.
        proc: a descriptor of a proc file system's folder, through which the worker's user is mapped.

    Raises:
        OSError: the kernel refuses a step.
    """
    if namespaces.private:
        kernel.setns(namespaces.pidfd, kernel.OF_A_WORKER)
    else:
        kernel.setns(namespaces.pidfd, kernel.SHARED)
        kernel.unshare(kernel.OF_A_WORKER & ~kernel.SHARED)
        kernel.map_user(proc, _USER, 0, 0)
        view.mount_private(_DISK_MB, _FILES)


def _wait_until_killed() -> NoReturn:
    """Keep namespaces alive: give up rights and descriptors, and wait to be killed."""
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
