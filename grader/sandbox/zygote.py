"""`python -m grader.sandbox.zygote FD [stays]`: the zygote, which imports PyTorch and NumPy once for all processes.

host -- zygote           torch, NumPy, and what workers need of our packages
          +-- launcher   enters namespaces, builds the root: see `launch`
          |     +-- worker server -- workers
          +-- template   torch, NumPy, pytest, and what check processes need
                +-- check process, check process, ...

Neither of the two reads anything of a course. The template is forked before the zygote imports what is for workers
alone, so that no worker comes from a process with pytest in it, and no check process from one that was prepared for
student code. Both have one thread: what is forked is prepared after the fork as a process that was executed would be.

The host speaks with it over a Unix socket, in one datagram for each of `sandbox.messages`. With each request comes a
socket for what follows: the zygote answers there with a pidfd, and what it forked is killed if nobody hears that. It
ends with its host, or, with `messages.Stay`, takes calls of further hosts of the same user for a while.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from grader.sandbox import child, kernel, launch, messages
from grader.sandbox.messages import receive, send
from grader.sandbox.process import GRACE_S

_IMPORTED = ("torch", "numpy", "numpy.random", "numpy.linalg", "torch.autograd.gradcheck", "torch.nn.functional")
"""Once for all. What honest code needs of these packages and they import only when it is used is among it."""

_WORKER_SERVER = "grader.worker.server"
_LIBRARIES = "grader.worker.with_torch"
_SLOW_IMPORTS = "grader.sandbox.slow_imports"
_CHECK_PROCESS = "grader.check_process.forked"
"""The module of the check process, by name: the sandbox imports none of our other packages."""

_NULL, _OUTPUT, _ERRORS = range(3)

_LOOK_S = 5.0
"""How often a zygote that stays looks whether it is still wanted."""


def main() -> Callable[[], None]:
    """Import; then fork what hosts ask for until they have closed their sockets.

    Returns:
        What is to be done where this frame is gone: in a process that was forked, what it is to do.
    """
    gc.disable()  # see `grader.worker.__main__`
    for name in _IMPORTED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    # Before `gc.freeze`, from which on the garbage collector does not find what this looks for.
    importlib.import_module(_SLOW_IMPORTS).leave_slow_imports_out()
    gc.freeze()  # or the first collection in a child would write to every page that an object of ours is on
    # Before the first fork and never again: what is collapsed later would be a copy, and no longer shared.
    kernel.collapse_pages(None)
    if threads := os.listdir("/proc/self/task")[1:]:
        sys.exit(f"{len(threads)} threads were started by an import; a process with threads cannot be forked safely")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host = socket.socket(fileno=int(sys.argv[1]))
    pid = os.fork()
    if pid == 0:
        child.run_and_exit(lambda: _become_template(theirs))
    theirs.close()
    libraries = importlib.import_module(_LIBRARIES).WithTorch()
    importlib.import_module(_WORKER_SERVER).prepare(libraries)
    gc.freeze()
    gc.enable()
    # By a message: workers can read the words of the command.
    stay = receive(host)[0] if sys.argv[2:] else None
    assert stay is None or isinstance(stay, messages.Stay)
    kernel.set_name("grade-zygote")
    return Forks([host], _Template(pid, ours), stay, libraries).serve() or _end_at_once


def _end_at_once() -> None:
    """End at once, as a zygote that nobody needs."""


def _become_template(requests: socket.socket) -> None:
    """Import what check processes need; fork them until the zygote is gone."""
    kernel.die_with_parent()
    kernel.disable_huge_pages()  # or a few bytes that are written cost a copy of 2 MB
    kernel.close_all_but(requests.fileno())
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # it reads its messages with pydantic
    importlib.import_module(_CHECK_PROCESS)
    gc.freeze()
    gc.enable()
    kernel.set_name("grade-template")
    if forked := Forks([requests]).serve():
        forked()


class _Template(NamedTuple):
    """The process that check processes are forked from."""

    pid: int
    requests: socket.socket


class Forks:
    """A process that forks others on request.

    Args:
        hosts: whence requests come.
        template: who forks check processes; None if this is the one.
        stay: how long it takes calls of further hosts; None if all is over with these.
        libraries: what workers have.
    """

    def __init__(
        self,
        hosts: Sequence[socket.socket],
        template: _Template | None = None,
        stay: messages.Stay | None = None,
        libraries: Any = None,
    ) -> None:
        self._libraries = libraries
        self._template = template
        self._stay = stay
        self._hosts = {host: set[int]() for host in hosts}  # each with the pidfds of worker servers forked for it
        self._children: dict[int, int] = {}  # pidfd → pid
        self._forked: Callable[[], None] | None = None  # in a child: what it does from now on
        self._due: dict[int, float] = {}  # pidfd → when it is killed, as its host is gone
        self._quiet_since = time.monotonic()
        self._selector = selectors.PollSelector()  # without a descriptor of its own
        for host in hosts:
            self._selector.register(host, selectors.EVENT_READ, self._from_host)
        self._listening: socket.socket | None = None
        if stay is not None:
            self._listening = socket.socket(fileno=stay.listening)
            self._inode = os.stat(stay.path).st_ino
            self._selector.register(self._listening, selectors.EVENT_READ, lambda _: self._accept())
            self._leader = os.pidfd_open(stay.leader)
            self._selector.register(self._leader, selectors.EVENT_READ, lambda _: self._end_with_session())

    def serve(self) -> Callable[[], None] | None:
        """Answer requests and reap children until all hosts are gone, and no other is waited for.

        Returns:
            None; in a process that was forked, what it is to do. It does that where nothing of this is left: who is
            forked further could look at the frames below its own, and at this object, which know folders and numbers
            of processes.
        """
        while self._hosts or self._waits():
            timeout = _LOOK_S if self._stay is not None or self._due else None
            for key, _ in self._selector.select(timeout):
                key.data(key.fileobj)
                if (forked := self._forked) is not None:
                    vars(self).clear()
                    return forked
            for pidfd in [pidfd for pidfd, latest in self._due.items() if latest < time.monotonic()]:
                del self._due[pidfd]
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        if self._stay is not None and self._is_at_its_place():
            os.unlink(self._stay.path)
        return None

    def _waits(self) -> bool:
        """Return whether another host may call."""
        if self._stay is None or self._listening is None or not self._is_at_its_place():
            return False
        return time.monotonic() < self._quiet_since + self._stay.idle_s

    def _is_at_its_place(self) -> bool:
        assert self._stay is not None
        with contextlib.suppress(OSError):  # removed, or out of reach: nobody can call there
            return os.stat(self._stay.path).st_ino == self._inode
        return False

    def _accept(self) -> None:
        """Take a call, if it is of the same user."""
        assert self._listening is not None
        host, _ = self._listening.accept()
        _, user, _ = struct.unpack("3i", host.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        if user != os.geteuid():
            host.close()
            return
        self._hosts[host] = set()
        self._selector.register(host, selectors.EVENT_READ, self._from_host)

    def _from_host(self, host: socket.socket) -> None:
        message, descriptors = receive(host)
        try:
            match message:
                case messages.StartServer(plan):
                    become = partial(_worker_server, plan, self._libraries)
                    self._fork(descriptors, become, self._hosts[host])
                case messages.StartCheckProcess() if self._template is not None:
                    with contextlib.suppress(OSError):  # it is gone: who waits for an answer sees the socket close
                        send(self._template.requests, message, descriptors)
                case messages.StartCheckProcess():
                    self._fork(descriptors, _check_process)
                case messages.Describe():
                    self._describe(descriptors[0])
                case messages.Stop():
                    self._take_no_calls()
                case _:
                    self._end(host)
        finally:
            for descriptor in descriptors if self._forked is None else ():
                os.close(descriptor)

    def _end(self, host: socket.socket) -> None:
        """Forget a host that is gone, and end those of its worker servers that do not end by themselves."""
        self._selector.unregister(host)
        host.close()
        self._due |= dict.fromkeys(self._hosts.pop(host) & self._children.keys(), time.monotonic() + GRACE_S)
        self._quiet_since = time.monotonic()

    def _describe(self, answer: int) -> None:
        pids = (os.getpid(), *([self._template.pid] if self._template is not None else []))
        left = self._quiet_since + self._stay.idle_s - time.monotonic() if self._stay is not None else 0.0
        # Who asked may have ended, or be too slow to read: then nobody waits for it.
        with socket.socket(fileno=os.dup(answer)) as sock, contextlib.suppress(OSError):
            send(sock, messages.Described(pids, left))

    def _end_with_session(self) -> None:
        self._take_no_calls()
        os._exit(0)  # and all that was forked with it

    def _take_no_calls(self) -> None:
        if self._listening is not None and self._stay is not None:
            if self._is_at_its_place():
                os.unlink(self._stay.path)
            self._selector.unregister(self._listening)
            self._listening.close()
            self._listening = None

    def _fork(
        self, descriptors: list[int], become: Callable[..., Callable[[], None]], servers: set[int] | None = None
    ) -> None:
        answer = socket.socket(fileno=os.dup(descriptors[0]))
        try:
            pid = os.fork()
        except OSError as error:
            with contextlib.suppress(OSError):  # nobody waits for it any more
                send(answer, messages.Refused(str(error)))
            answer.close()
            return
        if pid == 0:
            answer.detach()
            try:
                self._forked = self._become(descriptors, become)
            except BaseException:
                child.end_with_traceback()
            return
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        self._selector.register(pidfd, selectors.EVENT_READ, lambda _: self._reap(pidfd))
        if servers is not None:
            servers.add(pidfd)
        try:
            send(answer, messages.Forked(pid), [pidfd])
        except OSError:  # nobody waits for it any more
            os.kill(pid, signal.SIGKILL)
        answer.close()

    def _become(self, descriptors: list[int], become: Callable[..., Callable[[], None]]) -> Callable[[], None]:
        # Were these objects collected in the child, they would close descriptors that are somebody else's by then.
        for host in self._hosts:
            host.detach()
        if self._template is not None:
            self._template.requests.detach()
        if self._listening is not None:
            self._listening.detach()
        os.setsid()
        _, log, *given = descriptors
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, stream in ((null, _NULL), (log, _OUTPUT), (log, _ERRORS)):
            os.dup2(descriptor, stream)
        kernel.close_all_but(*given)
        return become(*given)

    def _reap(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        self._due.pop(pidfd, None)
        for servers in self._hosts.values():
            servers.discard(pidfd)
        os.close(pidfd)
        os.waitpid(self._children.pop(pidfd), 0)


def _worker_server(plan: messages.LaunchPlan, libraries: Any, host: int) -> Callable[[], None]:
    """Enter the sandbox of the workers; return what serves there."""
    kernel.set_name("grade-launcher")
    # When the zygote ends, all ends with it. The launcher keeps what it was given.
    kernel.die_with_parent()
    server = importlib.import_module(_WORKER_SERVER)
    return partial(server.run, host, launch.launch(plan, keep=host), libraries)


def _check_process(channel: int, *servers: int) -> Callable[[], None]:
    """Return a function that speaks with the host over the standard streams, as an executed check process does."""
    kernel.set_name("grade-check")
    for stream in (_NULL, _OUTPUT):
        os.dup2(channel, stream)
    os.close(channel)
    tempfile.tempdir = None  # where an import asked for it, the folder was another one
    sys.modules["numpy"].random.seed()  # each from the system's entropy, as in a process that imports it
    return partial(importlib.import_module(_CHECK_PROCESS).run, servers)


if __name__ == "__main__":
    child.run_and_exit(main())
