"""What a worker gives up before student code runs: the whole of the confinement, on this page.

`Full` needs the namespaces that `launch` prepared. `Reduced` is for machines where there can be none: it hides what is
in files and forbids the network, new processes and signals, but does not hide that files exist. `Sandbox` itself is the
level `none`: a process with limits. A step that fails raises, and the worker that meets it ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from grader.sandbox import kernel, seccomp
from grader.sandbox.limits import WorkerLimits, address_space_of_self, limit_resources, tasks_of_user
from grader.sandbox.view import DEVICES, PRIVATE_PARENT, WORK

_REASON_BYTES = 4096


class Sandbox:
    """Limits, and nothing else. The worker server makes it before it forks any worker."""

    def __init__(self, proc: int | None = None) -> None:
        self._memory = address_space_of_self(proc)
        self._tasks = tasks_of_user()

    def fork(self) -> int:
        """Fork a worker: 0 in the child, which must call `give_up_rights` next, its pid in the parent.

        Raises:
            OSError: the system gives no process or no namespaces, at the moment.
        """
        return os.fork()

    def give_up_rights(self) -> None:
        """In the child: give up what needs no knowledge of what is to be done, ahead of need.

        Here: be a session of its own, and end with the server.
        """
        if os.name == "posix" and os.getsid(0) != os.getpid():
            os.setsid()
        if sys.platform == "linux":
            kernel.die_with_parent()

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """In the child: give up the rest, once limits are known; give the folder in which it is now.

        Here: go into the empty folder, with limits.
        """
        _live_in(folder)
        limit_resources(limits, self._memory, self._tasks)
        return folder

    def use_once(self, pid: int) -> None:
        """Give no other worker what this one was confined in."""

    def end(self, pid: int) -> None:
        """End a worker with everything that it started; or end what it left, if it has ended by itself.

        Here: end the session; what has left it goes on.
        """
        # A worker that was just forked may not have made its session yet, so it is also ended by itself.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)


class Reduced(Sandbox):
    """Landlock and system-call filters, which need no privilege."""

    def __init__(self, readable: Sequence[str]) -> None:
        super().__init__()
        from grader.sandbox import landlock

        self._landlock = landlock
        self._readable = readable
        self._devices = [f"/dev/{name}" for name in DEVICES]
        self._filters = seccomp.load("base", "rootless")
        self._alone = seccomp.load("alone")

    def give_up_rights(self) -> None:
        """Be a session of its own, without capabilities."""
        super().give_up_rights()
        _give_up_privileges()

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """Go into the empty folder, with limits; then open files in it and the interpreter's, and start no process."""
        super().confine(limits, folder)
        # Landlock first, the filters last: they hold for every step after them.
        rules = self._landlock.make_ruleset(self._readable, [folder, *self._devices])
        self._landlock.apply(rules)
        os.close(rules)
        seccomp.apply([*self._filters, *self._alone, signals_to_itself_only(os.getpid())])
        return folder


class Full(Sandbox):
    """Namespaces, a root of their own, Landlock where the kernel has it, system-call filters.

    Args:
        proc: a descriptor of a proc file system, to measure with.
        sets: a socket to `launch`, which makes namespace sets.
    """

    def __init__(self, proc: int, sets: socket.socket) -> None:
        super().__init__(proc)
        from grader.sandbox import landlock

        self._sets = sets
        self._here = os.pidfd_open(os.getpid())
        self._filters = seccomp.load("base")
        self._alone = seccomp.load("alone")
        self._landlock = landlock
        writable = [PRIVATE_PARENT, *(f"/dev/{name}" for name in DEVICES)]
        # Built once, here; a worker inherits the descriptor and applies it in one call.
        self._rules = landlock.make_ruleset(["/"], writable) if landlock.abi() else None
        self._set_of: dict[int, _Set] = {}
        self._renewed: list[_Set] = []
        self._own: _Set | None = None

    def fork(self) -> int:
        """Fork into the process namespace of a set that is new, or renewed."""
        self._own = self._renewed_set() or self._new_set()
        pid = 0
        try:
            # A process joins a process namespace by being started there; the rest of the set it can join itself.
            kernel.setns(self._own.process, kernel.CLONE_NEWPID)
            pid = os.fork()
        except OSError:
            self._own.end()
            kernel.setns(self._here, kernel.CLONE_NEWPID)
            raise
        if pid:
            # Back to our own: once this namespace set has ended, nothing could be forked into its namespace.
            kernel.setns(self._here, kernel.CLONE_NEWPID)
            self._set_of[pid] = self._own
        return pid

    def _renewed_set(self) -> _Set | None:
        """A set of which the last worker is gone with all that it left, if there is one by now."""
        for one in list(self._renewed):
            with contextlib.suppress(BlockingIOError):  # its last worker is just being taken apart
                said = one.line.recv(16, socket.MSG_DONTWAIT)
                self._renewed.remove(one)
                if said:
                    return one
                one.end()
        return None

    def _new_set(self) -> _Set:
        said = b""
        with contextlib.suppress(ConnectionError):  # it went with our word unread
            self._sets.send(b"set")
            said, descriptors, _, _ = socket.recv_fds(self._sets, _REASON_BYTES, 2)
        # The launcher is gone, and the kernel is about to end this process, too. Until then it must not say that it is
        # ready: the host would take it for the server that another level is tried with.
        if not said:
            sys.exit("the launcher has ended")
        if not descriptors:
            raise OSError(errno.ENOSPC, said.decode("utf-8", "replace"))
        return _Set(descriptors[0], socket.socket(fileno=descriptors[1]))

    def give_up_rights(self) -> None:
        """Join the rest of the set; then give up every privilege, all files but the interpreter's, and many calls."""
        os.setsid()
        if self._own is not None:
            kernel.setns(self._own.process, kernel.OF_A_SET)
        # Joining a user namespace gave it all rights in there; no step from here on needs them.
        _give_up_privileges()
        _live_in(WORK)
        if self._rules is not None:
            self._landlock.apply(self._rules)
        seccomp.apply(self._filters)

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """Set limits; start no process, unless the exercise is about that."""
        del folder
        limit_resources(limits, self._memory)
        if limits.processes == 1:
            seccomp.apply(self._alone)
        return WORK

    def use_once(self, pid: int) -> None:
        """Let its namespace set end with it."""
        self._set_of[pid].serves_again = False

    def end(self, pid: int) -> None:
        """End all that is in the namespace set, and renew it."""
        own = self._set_of.pop(pid, None)
        if own is None:
            return
        with contextlib.suppress(OSError):  # it has ended
            if own.serves_again:
                own.line.send(b"renew")
                self._renewed.append(own)
                return
        own.end()


@dataclass(eq=False)
class _Set:
    """A namespace set.

    Attributes:
        process: a descriptor of the process that holds it.
        line: a socket that carries the order to renew the set, and the answer that it is renewed.
        serves_again: whether it is renewed for another worker.
    """

    process: int
    line: socket.socket
    serves_again: bool = True

    def end(self) -> None:
        """End it: with process 1 the kernel ends all others in its namespace, wherever they hid."""
        with contextlib.suppress(ProcessLookupError):  # it is gone, and they with it
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
        os.close(self.process)
        self.line.close()


def _give_up_privileges() -> None:
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.forbid_tracing()
    kernel.die_with_parent()


def signals_to_itself_only(pid: int) -> bytes:
    """A filter without which `tgkill` could reach others: libc uses it to end itself, in `abort` for one."""
    number = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    # By hand, as the number of this process is part of it: the filters of the package are built ahead.
    rows = (
        (0x20, 0, 0, 0),  # load the number of the call
        (0x15, 0, 3, number),  # tgkill?
        (0x20, 0, 0, 16),  # load its first argument
        (0x15, 1, 0, pid),
        (0x06, 0, 0, 0x00050000 | 1),  # EPERM
        (0x06, 0, 0, 0x7FFF0000),  # allow
    )
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def _live_in(folder: str) -> None:
    os.chdir(folder)
    for name in ("HOME", "TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder
