"""A process that forks others on request, of one host or of any command of its user."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grader.sandbox import child, fork_messages, kernel, start_messages
from grader.sandbox.datagrams import Message, receive, send
from grader.sandbox.process import GRACE_S

INPUT, OUTPUT, ERRORS = range(3)
"""The descriptors of the standard streams."""

_LOOK_S = 5.0
"""How often a process that stays looks whether it is still wanted."""


@dataclass(frozen=True)
class Beginning:
    """How a process that is forked begins, and whether it ends with its host.

    Attributes:
        prepare: gets the descriptors that came after the first two (the socket for the answer, the log), and returns
            what the process does.
        ends_with_host: True if it is killed some time after the host that asked for it is gone.
        is_command: True if it runs a command that somebody typed: then it stays in the session of the process that it
            was forked from, and who asked gets a message of how it ended.
    """

    prepare: Callable[..., Callable[[], None]]
    ends_with_host: bool = False
    is_command: bool = False


class Template(NamedTuple):
    """The process that check processes are forked from."""

    pid: int
    requests: socket.socket


class ForkServer:
    """A process that forks others on request.

    Args:
        hosts: the sockets from which requests come.
        beginning: a function that returns how the process begins that a message asks for; None if it asks for none.
        template: the template that forks check processes; None if this process is the template, or without one.
        stay: the seconds for which it accepts further hosts; None if it ends with these.
        at_rest: a function that is called once, when its first hosts are gone and it waits for others.
    """

    def __init__(
        self,
        hosts: Sequence[socket.socket],
        beginning: Callable[[Message], Beginning | None],
        template: Template | None = None,
        stay: fork_messages.Stay | None = None,
        at_rest: Callable[[], None] | None = None,
    ) -> None:
        self._beginning = beginning
        self._template = template
        self._stay = stay
        self._at_rest = at_rest
        self._hosts = {host: set[int]() for host in hosts}  # each with the pidfds of what ends with it
        self._children: dict[int, int] = {}  # pidfd → pid
        self._waits_for_end: dict[int, socket.socket] = {}  # pidfd of a command → who hears how it ended
        self._forked: Callable[[], None] | None = None  # in a child: what it does from now on
        self._due: dict[int, float] = {}  # pidfd → when it is killed, as its host is gone
        self._quiet_since = time.monotonic()
        self._selector = selectors.PollSelector()  # without a descriptor of its own
        for host in hosts:
            self._selector.register(host, selectors.EVENT_READ, self._on_host_message)
        self._listening: socket.socket | None = None
        if stay is not None:
            self._listening = socket.socket(fileno=stay.listening)
            self._inode = os.stat(stay.path).st_ino
            self._selector.register(self._listening, selectors.EVENT_READ, lambda _: self._accept())
            self._leader = os.pidfd_open(stay.leader)
            self._selector.register(self._leader, selectors.EVENT_READ, lambda _: self._end_with_session())

    def serve(self) -> Callable[[], None]:
        """Answer requests and reap children until all hosts are gone.

        Returns:
            The function that the caller calls next: in a forked process the function that it was forked for, in this
            one a function that does nothing. It must be called when this frame is gone: processes that are forked later
            could look at the frames below their own, and at this object, which know folders and numbers of processes.
        """
        while self._hosts or self._expects_hosts():
            if not self._hosts and self._at_rest is not None:
                at_rest, self._at_rest = self._at_rest, None
                at_rest()
            timeout = _LOOK_S if self._stay is not None or self._due else None
            for key, _ in self._selector.select(timeout):
                key.data(key.fileobj)
                if (forked := self._forked) is not None:
                    vars(self).clear()
                    return forked
            for pidfd in [pidfd for pidfd, latest in self._due.items() if latest < time.monotonic()]:
                del self._due[pidfd]
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        if self._stay is not None and self._owns_socket():
            os.unlink(self._stay.path)
        return _do_nothing

    def _expects_hosts(self) -> bool:
        """Return whether this process, which has no host now, waits for another one.

        It does if its socket is still at the path in its `Stay`, and `idle_s` seconds are not over.
        """
        if self._stay is None or self._listening is None or not self._owns_socket():
            return False
        return time.monotonic() < self._quiet_since + self._stay.idle_s

    def _owns_socket(self) -> bool:
        assert self._stay is not None
        with contextlib.suppress(OSError):  # removed, or out of reach: nobody can call there
            return os.stat(self._stay.path).st_ino == self._inode
        return False

    def _accept(self) -> None:
        """Accept the connection of a host; close it if the host is a process of another user."""
        assert self._listening is not None
        host, _ = self._listening.accept()
        _, user, _ = struct.unpack("3i", host.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        if user != os.geteuid():
            host.close()
            return
        self._hosts[host] = set()
        self._selector.register(host, selectors.EVENT_READ, self._on_host_message)

    def _on_host_message(self, host: socket.socket) -> None:
        """Receive a message of a host, and do what it asks for.

        It may ask to fork, to start a check process, to describe this server, or to stop. A host that is gone, or sends
        another message, is forgotten.
        """
        message, descriptors = receive(host)
        try:
            match message:
                case None:
                    self._forget_host(host)
                case start_messages.StartCheckProcess() if self._template is not None:
                    with contextlib.suppress(OSError):  # it is gone: who waits for an answer sees the socket close
                        send(self._template.requests, message, descriptors)
                case fork_messages.Describe():
                    self._describe(descriptors[0])
                case fork_messages.Stop():
                    self._stop_accepting_hosts()
                case _ if beginning := self._beginning(message):
                    self._fork(descriptors, beginning, host)
                case _:
                    self._forget_host(host)
        finally:
            for descriptor in descriptors if self._forked is None else ():
                os.close(descriptor)

    def _forget_host(self, host: socket.socket) -> None:
        """Forget a host that is gone.

        Its worker servers are killed `GRACE_S` later, unless they end by themselves.
        """
        self._selector.unregister(host)
        host.close()
        self._due |= dict.fromkeys(self._hosts.pop(host) & self._children.keys(), time.monotonic() + GRACE_S)
        self._quiet_since = time.monotonic()

    def _describe(self, answer: int) -> None:
        pids = (os.getpid(), *([self._template.pid] if self._template is not None else []))
        left = self._quiet_since + self._stay.idle_s - time.monotonic() if self._stay is not None else 0.0
        # Who asked may have ended, or be too slow to read: then nobody waits for it.
        with socket.socket(fileno=os.dup(answer)) as sock, contextlib.suppress(OSError):
            send(sock, fork_messages.Described(pids, left))

    def _end_with_session(self) -> None:
        self._stop_accepting_hosts()
        os._exit(0)  # and all that was forked with it

    def _stop_accepting_hosts(self) -> None:
        if self._listening is not None and self._stay is not None:
            if self._owns_socket():
                os.unlink(self._stay.path)
            self._selector.unregister(self._listening)
            self._listening.close()
            self._listening = None

    def _fork(self, descriptors: list[int], beginning: Beginning, host: socket.socket) -> None:
        """Fork a child, send the host its pid, and watch for its end.

        In the child, store the function that it is to run.
        """
        answer = socket.socket(fileno=os.dup(descriptors[0]))
        try:
            pid = os.fork()
        except OSError as error:
            with contextlib.suppress(OSError):  # nobody waits for it any more
                send(answer, fork_messages.Refused(str(error)))
            answer.close()
            return
        if pid == 0:
            answer.detach()
            try:
                self._forked = self._prepare_child(descriptors, beginning)
            except BaseException:
                child.end_with_traceback()
            return
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        self._selector.register(pidfd, selectors.EVENT_READ, lambda _: self._reap(pidfd))
        if beginning.ends_with_host:
            self._hosts[host].add(pidfd)
        try:
            send(answer, fork_messages.Forked(pid), [pidfd])
        except OSError:  # nobody waits for it any more
            os.kill(pid, signal.SIGKILL)
        if beginning.is_command:
            self._waits_for_end[pidfd] = answer
        else:
            answer.close()

    def _prepare_child(self, descriptors: list[int], beginning: Beginning) -> Callable[[], None]:
        """Detach a forked child from the server; return the function that it runs.

        The child closes the descriptors of the server, and writes its output and errors to its log.
        """
        # Were these objects collected in the child, they would close descriptors that are somebody else's by then.
        for other in (*self._hosts, *self._waits_for_end.values()):
            other.detach()
        if self._template is not None:
            self._template.requests.detach()
        if self._listening is not None:
            self._listening.detach()
        if not beginning.is_command:
            os.setsid()
        _, log, *given = descriptors
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, stream in ((null, INPUT), (log, OUTPUT), (log, ERRORS)):
            os.dup2(descriptor, stream)
        kernel.close_all_but(*given)
        return beginning.prepare(*given)

    def _reap(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        self._due.pop(pidfd, None)
        for servers in self._hosts.values():
            servers.discard(pidfd)
        os.close(pidfd)
        _, status = os.waitpid(self._children.pop(pidfd), 0)
        if pidfd in self._waits_for_end:
            with self._waits_for_end.pop(pidfd) as answer, contextlib.suppress(OSError):  # nobody waits for it any more
                send(answer, fork_messages.Ended(os.waitstatus_to_exitcode(status)))


def _do_nothing() -> None:
    """Do nothing: the process that calls this after `serve` then ends."""
