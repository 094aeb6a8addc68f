"""`python -m grader.confine.launch PLAN PARENT`: the worker server, or a spawned worker, inside namespaces and a root.

    host -- outer        waits, and passes on how it ended
              +-- inner  enters namespaces, builds the root
                    +-- first process   makes boxes, is process 1 for all that follows
                          +-- worker server ... workers
                          +-- box, box, ...

Where the kernel refuses, the outer process starts the same command without all this and hands on the reason. The plan
is JSON: `view` what is shown, `command` what to start, `boxes` whether that asks for boxes,
and `wall` "full", "reduced" or "none", the most to try. The command gets one argument more, JSON again: inside, the
descriptors `proc` (see `kernel.map_user`) and `boxes`; outside, `refused`, the reason, and `readable`, what workers may
read, or null where files cannot be hidden from them.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from grader.confine import box, kernel, seccomp
from grader.confine.view import COPIED, View, build

_STRANGER = 2_000_000_000
"""A user without files on any system, for workers of root."""

_REFUSED = 77
_CAP_SYS_ADMIN = 21
_BY_SIGNAL = 128
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0)

_WORLD = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWCGROUP
)


def main() -> None:
    """Start the command behind a wall, or without one where there can be none."""
    kernel.die_with_parent()
    if os.getppid() != int(sys.argv[2]):  # it was gone before we asked
        return
    plan = json.loads(sys.argv[1])
    refused = _try_inner(plan) if plan["wall"] == "full" else "not asked for"
    told = {"refused": refused, "readable": _readable(plan) if plan["wall"] != "none" else None}
    os.execv(plan["command"][0], [*plan["command"], json.dumps(told)])  # noqa: S606  the command is ours


def _readable(plan: dict[str, Any]) -> list[str] | None:
    """What a worker behind a lower wall may read, or None if the kernel or the machine has not what that needs."""
    from grader.confine import landlock

    try:
        seccomp.load("base")
    except OSError:
        return None
    return [*View.from_plain(plan["view"]).folders(), *COPIED] if landlock.abi() else None


def _try_inner(plan: dict[str, Any]) -> str:
    """Start the inner process and end as it ends. Comes back only with the reason why there is none."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            _inner(plan, write)
        except OSError as error:
            os.write(write, str(error).encode())
        os._exit(_REFUSED)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        reason = pipe.read().decode("utf-8", "replace")
    code = _exit_code(pid)
    if reason:
        return reason
    if code > _BY_SIGNAL:
        with contextlib.suppress(OSError, ValueError):  # SIGKILL has no other meaning to take back
            signal.signal(code - _BY_SIGNAL, signal.SIG_DFL)
        os.kill(os.getpid(), code - _BY_SIGNAL)
    os._exit(code)


def _inner(plan: dict[str, Any], told: int) -> NoReturn:
    kernel.die_with_parent()
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir("/")
    seccomp.load("base")
    view = View.from_plain(plan["view"])
    if _may_mount():
        _enter_as_root(view)
    else:
        user, group = os.getuid(), os.getgid()
        kernel.unshare(kernel.CLONE_NEWUSER | _WORLD)
        kernel.map_user(proc, 0, user, group)
        build(view)
    pid = os.fork()
    if pid == 0:
        kernel.die_with_parent()
        (_first if plan["boxes"] else _only)(plan["command"], proc, told)
    os.close(told)
    os._exit(_exit_code(pid))


def _may_mount() -> bool:
    """Whether this is root with all its rights; in a container root may be no more than a name."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        effective = next((int(line.split()[1], 16) for line in file if line.startswith("CapEff")), 0)
    return os.geteuid() == 0 and bool(effective >> _CAP_SYS_ADMIN & 1)


def _enter_as_root(view: View) -> None:
    """Build the root with root's rights, which may be needed to reach the interpreter; then be a stranger."""
    me = os.getpid()
    ours, theirs = socket.socketpair()
    helper = os.fork()
    if helper == 0:  # stays outside, where it may write any map
        ours.close()
        if theirs.recv(1):
            kernel.map_user_of(me, 0, _stranger())
            theirs.send(b"k")
        os._exit(0)
    theirs.close()
    kernel.unshare(kernel.CLONE_NEWNS)
    build(view)
    os.setgroups([])
    kernel.unshare(kernel.CLONE_NEWUSER)
    ours.send(b"g")
    mapped = ours.recv(1)
    os.waitpid(helper, 0)
    ours.close()
    if not mapped:
        raise OSError("the user map could not be written")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    kernel.own_proc_files()
    kernel.unshare(_WORLD)


def _stranger() -> int:
    """A user that exists in this namespace: in a container there may be few."""
    last = 0
    with open("/proc/self/uid_map", encoding="ascii") as file:
        for line in file:
            start, _, count = map(int, line.split())
            if start <= _STRANGER < start + count:
                return _STRANGER
            last = max(last, start + count - 1)
    return last


def _only(command: list[str], proc: int, told: int) -> NoReturn:
    """Be the box of one spawned worker, and end as it ends."""
    box.furnish(proc, 0)
    pid = os.fork()
    if pid == 0:
        kernel.die_with_parent()
        os.set_inheritable(proc, True)
        os.execv(command[0], [*command, json.dumps({"proc": proc})])  # noqa: S606  the command is ours
    os.close(told)
    os._exit(_exit_code(pid))


def _first(command: list[str], proc: int, told: int) -> NoReturn:
    """Start the worker server, and make boxes for it until it ends."""
    boxes = _Boxes(proc)
    boxes.try_one()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    server = os.fork()
    if server == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (theirs.fileno(), proc):
            os.set_inheritable(descriptor, True)
        os.execv(command[0], [*command, json.dumps({"boxes": theirs.fileno(), "proc": proc})])  # noqa: S606  the command is ours
    theirs.close()
    os.close(told)
    selector = selectors.DefaultSelector()
    selector.register(ours, selectors.EVENT_READ)
    selector.register(woken, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is woken:
                woken.recv(4096)
                _reap(server)
            elif ours.recv(16):
                boxes.hand_over(ours)
            else:
                selector.unregister(ours)


def _reap(server: int) -> None:
    """Reap boxes; end when the server has."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid == server:
            os._exit(_plain(os.waitstatus_to_exitcode(status)))


class _Boxes:
    """Makes boxes, one ahead of need."""

    def __init__(self, proc: int) -> None:
        self._proc = proc
        self._here = os.pidfd_open(os.getpid())
        self._coming: tuple[int, int] | None = None
        self._ready: list[int] = []

    def try_one(self) -> None:
        """Make the first.

        Raises:
            OSError: the kernel refuses a step.
        """
        self._ready.append(self._finish())

    def hand_over(self, server: socket.socket) -> None:
        """Give the server a box, as a descriptor of its process, and start to make the next."""
        descriptor = self._ready.pop() if self._ready else self._finish_at_last()
        socket.send_fds(server, [b"box"], [descriptor])
        os.close(descriptor)
        self._start()

    def _finish_at_last(self) -> int:
        """The box that is coming. The kernel takes old namespaces apart later than it counts them: wait for that."""
        for pause in _PAUSES_S:
            try:
                return self._finish()
            except OSError:
                time.sleep(pause)
        return self._finish()

    def _start(self) -> None:
        read, write = os.pipe()
        kernel.unshare(kernel.CLONE_NEWPID)  # for the next child, not for this process
        pid = os.fork()
        if pid == 0:
            self._be_a_box(write)
        kernel.setns(self._here, kernel.CLONE_NEWPID)
        os.close(write)
        self._coming = os.pidfd_open(pid), read

    def _be_a_box(self, told: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            kernel.close_all_but(told, self._proc)
            box.furnish(self._proc, 0)
            kernel.die_with_parent()
            os.write(told, b"k")
            kernel.close_all_but()
            box.hold()
        except OSError as error:
            os.write(told, str(error).encode())
        finally:
            os._exit(_REFUSED)

    def _finish(self) -> int:
        if self._coming is None:
            self._start()
        assert self._coming is not None
        descriptor, read = self._coming
        self._coming = None
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        if said == b"k":
            return descriptor
        os.close(descriptor)
        raise OSError(said.decode("utf-8", "replace") or "a box ended at once")


def _exit_code(pid: int) -> int:
    """Wait for a child; a signal that ended it becomes a number above 128."""
    return _plain(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _plain(code: int) -> int:
    return code if code >= 0 else _BY_SIGNAL - code


if __name__ == "__main__":
    main()
