"""Workers that the worker server forks, which has torch imported already."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.confine import cgroup
from grader.confine.messages import Ended, EndWorker, Refused, Started, StartWorker, from_text, to_text
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.remote.birth import WARM_UP_S, caps_of, new_places, once_confined, worker_limits
from grader.remote.worker import GRACE_S, Worker
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport

_SLACK_MB = 256
"""For private files and copies of the server's pages, beyond the memory that an exercise allows."""


class ForkStarter:
    """Asks the worker server, which has torch imported already.

    Args:
        server: this lane's socket to it.
        root: a private folder for the workers' folders.
        groups: where caps on whole workers can be set, if anywhere.
    """

    def __init__(self, server: socket.socket, root: Path, groups: cgroup.Groups | None = None) -> None:
        self._server = server
        self._root = root
        self._numbers = itertools.count()
        self._pidfds: dict[int, int] = {}
        self._ends: dict[int, Ended] = {}
        self._groups = groups
        self._clean_ups: dict[int, Callable[[], None]] = {}
        self._refused: dict[int, str] = {}
        self.make_room: Callable[[], bool] = lambda: False
        self.students: set[Worker] = set()

    def start_worker(self, limits: Limits, *, spared: bool = False, simulates: bool = False) -> Worker:
        """A fork of the server.

        Raises:
            WorkerLost: the machine has no room for one; the verdict is `broken`.
        """
        while True:
            # A number of the lane's own, as a pid means nothing here: the server may live in a process namespace.
            number = next(self._numbers)
            worker = self._start(number, limits, spared=spared, simulates=simulates)
            if worker is not None:
                return _in_its_group(once_confined(worker))
            why = self._refused.pop(number)
            # Fewer at once: what is kept for later makes room for what is needed now.
            if not self.make_room():
                raise WorkerLost(Verdict.BROKEN, f"this machine has no room for one more worker: {why}")

    def _start(self, number: int, limits: Limits, *, spared: bool, simulates: bool) -> Worker | None:
        # Made from here: control groups are not seen behind the wall.
        memory, own = limits.memory_mb + _SLACK_MB, worker_limits(limits)
        group = None if self._groups is None else self._groups.make(memory, own.tasks)
        folder, output = new_places(self._root, number)
        ours, theirs = socket.socketpair()
        sink = os.open(output, os.O_WRONLY | os.O_APPEND)
        doors = [] if group is None else group.doors()
        asked = StartWorker(number, str(folder), own, spared, simulates)
        try:
            socket.send_fds(self._server, [to_text(asked).encode()], [theirs.fileno(), sink, *doors])
        except OSError:
            ours.close()
            _remove(group)
            raise _server_lost() from None
        finally:
            # The server has its copies. With ours gone the channel closes when the worker ends, whatever it did.
            theirs.close()
            for descriptor in (sink, *doors):
                os.close(descriptor)
        # The socket also tells of the ends of earlier workers, in any order; `_listen` sorts that out.
        while number not in self._pidfds:
            try:
                self._listen(WARM_UP_S)
            except (WorkerLost, OSError):
                ours.close()
                with contextlib.suppress(OSError):  # it is not empty: whoever runs next sweeps
                    _remove(group)
                raise
            if number in self._refused:
                ours.close()
                folder.rmdir()
                output.unlink()
                _remove(group)
                return None
        pidfd = self._pidfds.pop(number)
        life = _Forked(_pid_of(pidfd), pidfd, number, self, group)
        return Worker(Channel(SocketTransport(ours), caps_of(limits)), life, folder, output, limits)

    def end_of(self, number: int) -> Ended | None:
        """Wait a moment for a worker's end."""
        # The channel closes a little before the server has reaped the process and told how it ended.
        until = time.monotonic() + GRACE_S
        while number not in self._ends and (left := until - time.monotonic()) > 0:
            try:
                self._listen(left)
            except TimeoutError:
                break
        return self._ends.get(number)

    def kill(self, number: int) -> None:
        """Tell the server to end a worker."""
        # By the server, which alone knows the box: a pid of ours could be another process's by now.
        if number not in self._ends:
            with contextlib.suppress(OSError):
                self._server.send(to_text(EndWorker(number)).encode())

    def _listen(self, seconds: float) -> None:
        self._server.settimeout(seconds)
        try:
            told, descriptors, _, _ = socket.recv_fds(self._server, 1 << 16, 1)
        except ConnectionError:
            told, descriptors = b"", []
        if not told:
            raise _server_lost()
        message = from_text(told)
        if isinstance(message, Started):
            self._pidfds[message.number] = descriptors[0]
        elif isinstance(message, Refused):
            self._refused[message.number] = message.why
        elif isinstance(message, Ended):
            self._ends[message.number] = message
            self._clean_ups.pop(message.number, _nothing)()

    def when_gone(self, number: int, clean_up: Callable[[], None]) -> None:
        """Clean up after a worker once its end is told: nobody waits while the kernel takes its memory apart."""
        if number in self._ends:
            clean_up()
        else:
            self._clean_ups[number] = clean_up

    def close(self) -> None:
        """Wait for the ends of all workers, then close the socket; the server ends whatever this lane left."""
        with contextlib.suppress(OSError, WorkerLost):  # the server is gone, and its workers with it
            # The last folders are removed when the ends are told; then nothing of the lane is left on the disk.
            for number in list(self._clean_ups):
                self.end_of(number)
        # Of these no end was told: the server is gone, and the kernel ended them with it.
        for clean_up in self._clean_ups.values():
            with contextlib.suppress(OSError):
                clean_up()
        self._server.close()


def _in_its_group(worker: Worker) -> Worker:
    """The worker, once it is where its limits hold: nothing of a submission has been sent to it yet."""
    life = worker.life
    assert isinstance(life, _Forked)
    if life.group is not None:
        try:
            life.group.take_in(life.pid)
        except ProcessLookupError:  # it has ended already, which is told when it is asked
            pass
        except OSError:
            worker.close()
            raise
    return worker


def _remove(group: cgroup.Group | None) -> None:
    if group is not None:
        group.remove()


def _server_lost() -> WorkerLost:
    """What to raise when the server itself is gone: no submission's fault. The host starts another."""
    return WorkerLost(Verdict.BROKEN, "the worker server is gone")


def _pid_of(pidfd: int) -> int:
    """A process's number in our own process namespace, which may not be the server's; see proc_pid_fdinfo(5)."""
    # A pidfd names this very process, whatever number it has where; our /proc tells the one that holds here.
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


@dataclass
class _Forked:
    pid: int
    pidfd: int
    number: int
    starter: ForkStarter
    group: cgroup.Group | None = None

    def kill(self) -> None:
        self.starter.kill(self.number)

    def signal(self, number: int) -> None:
        # By the descriptor: a process that was reaped has given its number back.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        def leave() -> None:
            clean_up()
            os.close(self.pidfd)
            if self.group is not None:
                self.group.remove()

        self.starter.when_gone(self.number, leave)

    def ran_out_of_memory(self) -> bool:
        return self.group is not None and self.group.was_killed()

    def exit_code(self) -> int | None:
        ended = self.starter.end_of(self.number)
        return None if ended is None else ended.status

    def cpu_at_end(self) -> float | None:
        ended = self.starter.end_of(self.number)
        return None if ended is None else ended.cpu_s


def _nothing() -> None:
    pass
