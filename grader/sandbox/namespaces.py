"""Namespace sets: each worker has namespaces of its own, held by a small process that is process 1 in them.

The worker joins a set that is ready; so it pays neither for making it nor for a second fork, and a signal that ends it
is seen as what it was. When the process that holds a set is ended, the kernel ends everything in the set with it.

A set serves one worker at a time, and is renewed for the next: the process that holds it ends all others in it, and
mounts a new private file system. A worker can leave nothing else: it has no system call for shared memory, queues or
keys, and no sockets (`seccomp.RULES["alone"]`). A worker that may start processes has sockets, so its set is ended.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

from grader.sandbox import kernel, view

_USER = 1000
"""User and group as seen inside."""

_DISK_MB = 192
_FILES = 8192

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_FAILED = 77
_FIRST_LOOK_S = 0.0002
_LAST_LOOK_S = 0.01

AT_ONCE = 5
"""Workers that one lane may need at once: the student's for two kinds of devices, a reference's, and a timed pair."""

ENOUGH = AT_ONCE + 3
"""Namespaces of each kind for that: one for each worker, and what the launcher enters before it makes them."""

# The kernel takes old namespaces apart later than it counts them.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0)
_LIMITS = "/proc/sys/user"

Result = TypeVar("Result")


class NamespaceSets:
    """Makes namespace sets, in the launcher.

    Args:
        proc: a descriptor of a proc file system's folder.
    """

    def __init__(self, proc: int) -> None:
        self._proc = proc
        # Names our own namespace for `setns`, with no proc file system in this root to name it by.
        self._here = os.pidfd_open(os.getpid())
        self._ready: list[tuple[int, socket.socket]] = []

    def try_out(self) -> None:
        """Make the first ones: as many as may be needed at once.

        Raises:
            OSError: the kernel refuses a step, or that many.
        """
        while len(self._ready) < AT_ONCE:
            try:
                self._ready.append(patiently(self._make))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                some = f"there is room for {len(self._ready)} workers at once: {error.strerror}"
                raise OSError(error.errno, some) from None

    def hand_over(self, server: socket.socket) -> None:
        """Give the server a namespace set: a descriptor of its process, and a socket to it; or say why that fails.

        Not waited for here: it is the server that hears of workers whose namespace sets can be ended.
        """
        try:
            descriptor, line = self._ready.pop() if self._ready else self._make()
        except OSError as error:
            server.send(str(error).encode())
            return
        socket.send_fds(server, [b"set"], [descriptor, line.fileno()])
        os.close(descriptor)
        line.close()

    def _make(self) -> tuple[int, socket.socket]:
        """Start a namespace set, and wait until it is furnished."""
        line, its_line = socket.socketpair()
        read, write = os.pipe()
        try:
            kernel.unshare(kernel.CLONE_NEWPID)  # for the next child, not for this process
            try:
                pid = os.fork()
                if pid == 0:
                    self._hold_a_set(write, its_line)
            finally:
                # Back to our own: else the next fork would be into this namespace set.
                kernel.setns(self._here, kernel.CLONE_NEWPID)
        except OSError:
            os.close(read)
            line.close()
            raise
        finally:
            # Ours closed, so that reading ends when the namespace set has said its word, or died without one.
            os.close(write)
            its_line.close()
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        if said == b"k":
            return os.pidfd_open(pid), line
        line.close()
        number, _, text = said.decode("utf-8", "replace").partition(" ")
        raise OSError(int(number) if number.isdecimal() else errno.ECHILD, text or "a namespace set ended at once")

    def _hold_a_set(self, answer: int, line: socket.socket) -> NoReturn:
        try:
            # What the launcher holds, the sockets to the server among them, is none of the namespace set's business.
            kernel.close_all_but(answer, self._proc, line.fileno())
            kernel.unshare(kernel.OF_A_SET)
            _furnish(self._proc)
            # Not before it has its final user: a change of user makes the kernel forget this.
            kernel.die_with_parent()
            os.write(answer, b"k")
            # The pipe, too: the other end reads until it is closed.
            kernel.close_all_but(line.fileno())
            _hold(line)
        except OSError as error:
            os.write(answer, f"{error.errno} {error.strerror}".encode())
        finally:
            os._exit(_FAILED)


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


def _hold(line: socket.socket) -> None:
    """Keep the namespace set until this process is ended; renew it for another worker at each word of the server's.

    The kernel reaps what is left to this process, since the launcher ignores SIGCHLD. The process stays traceable, or
    no worker could join; what lives in the namespace set has no system call to trace with, and cannot reach `line`.
    """
    # It was root in here so as to furnish the place. It needs one right of that, in this namespace set alone: to mount.
    kernel.drop_capabilities(but=kernel.CAP_SYS_ADMIN)
    kernel.forbid_new_privileges()
    # Nothing may interrupt this process, which is ended by SIGKILL from outside.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while word := line.recv(16):
        _end_all()
        kernel.unmount(view.PRIVATE)
        view.mount_private(_DISK_MB, _FILES)
        line.send(word)


def _end_all() -> None:
    """End every other process of this namespace, and wait until all are gone."""
    pause = _FIRST_LOOK_S
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
        # A worker is there until the server has reaped it.
        time.sleep(pause)
        pause = min(2 * pause, _LAST_LOOK_S)


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


def advice(reason: str, limits: str = _LIMITS) -> str:
    """Which limits are too low, if that may be why the kernel refused; else "".

    Args:
        reason: what the kernel said.
        limits: the folder of namespaces(7) that has them.
    """
    if "ENOSPC" not in reason:
        return ""
    low = []
    for path in sorted(Path(limits).glob("max_*_namespaces")):
        with contextlib.suppress(OSError, ValueError):
            if (most := int(path.read_text(encoding="ascii"))) < ENOUGH:
                low.append(f"user.{path.name} is {most}")
    reason = ", ".join(low) or "others use up what user.max_*_namespaces allow, or a limit around this container does"
    return f"; {reason}: {ENOUGH} of each kind are needed for {AT_ONCE} workers at once"
