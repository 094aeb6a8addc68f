"""Workers that the worker server forks, which has torch imported already."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.connection.process import GRACE_S, Starter, WorkerProcess
from grader.connection.starting import WARM_UP_S, caps_of, first_words, worker_limits
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.sandbox import cgroup
from grader.sandbox.messages import Ended, Message, Refused, Started, StartWorker, from_text, to_text
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport

_SLACK_MB = 256
"""For private files and copies of the server's pages, beyond the memory that an exercise allows."""

_ROOM_S = 2.0
"""How long is waited for room on the machine: namespaces that were left are counted for a while."""
_LOOK_S = 0.05

_SERVER_GONE = "the worker server is gone"


class ForkStarter(Starter):
    """Asks the worker server, which has torch imported already.

    Args:
        server: this lane's socket to it.
        root: a private folder for the workers' folders.
        groups: where caps on whole workers can be set, if anywhere.
    """

    def __init__(self, server: socket.socket, root: Path, groups: cgroup.Groups | None = None) -> None:
        super().__init__(root)
        self._server, self._groups = server, groups
        self._leaving: list[_Forked] = []

    def start_worker(self, limits: Limits, *, spared: bool = False, simulates: bool = False) -> WorkerProcess:
        """A fork of the server.

        Raises:
            WorkerLost: the machine has no room for one; the verdict is `broken`.
        """
        until = time.monotonic() + _ROOM_S
        while True:
            self._leaving[:] = [life for life in self._leaving if not life.has_left(0)]
            worker = self._start(limits, spared=spared, simulates=simulates)
            if isinstance(worker, WorkerProcess):
                first_words(worker)  # that it is confined
                self._take_in(worker)
                return worker
            if time.monotonic() < until:
                time.sleep(_LOOK_S)
            # Fewer at once: what is kept for later makes room for what is needed now.
            elif self.make_room():
                until = time.monotonic() + _ROOM_S
            else:
                raise WorkerLost(Verdict.BROKEN, f"this machine has no room for one more worker: {worker.why}")

    def _take_in(self, worker: WorkerProcess) -> None:
        """Put a worker where its limits hold: nothing of a submission has been sent to it yet."""
        assert isinstance(worker.life, _Forked)
        try:
            if worker.life.group is not None:
                worker.life.group.take_in(worker.life.pid)
        except ProcessLookupError:  # it has ended already, which is told when it is asked
            pass
        except OSError:
            worker.close()
            raise

    def _start(self, limits: Limits, *, spared: bool, simulates: bool) -> WorkerProcess | Refused:
        # Made from here: control groups are not seen behind the wall.
        memory, own = limits.memory_mb + _SLACK_MB, worker_limits(limits)
        group = None if self._groups is None else self._groups.make(memory, own.tasks)
        folder, output = self.new_places()
        status, its_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours, theirs = socket.socketpair()
        sink = os.open(output, os.O_WRONLY | os.O_APPEND)
        doors = [] if group is None else group.doors()
        wanted = to_text(StartWorker(str(folder), own, spared, simulates)).encode()
        try:
            socket.send_fds(self._server, [wanted], [its_status.fileno(), theirs.fileno(), sink, *doors])
            # The server has its copies. With ours gone the channel closes when the worker ends, whatever it did.
            its_status.close()
            message, descriptors = _receive(status, WARM_UP_S)
        except OSError:
            message, descriptors = None, []
        finally:
            for end in (its_status, theirs):
                end.close()
            for descriptor in (sink, *doors):
                os.close(descriptor)
        if isinstance(message, Started):
            life = _Forked(_pid_of(descriptors[0]), descriptors[0], status, self._leaving, group)
            return WorkerProcess(Channel(SocketTransport(ours), caps_of(limits)), life, folder, output, limits)
        for end in (status, ours):
            end.close()
        if group is not None:
            with contextlib.suppress(OSError):  # it is not empty: whoever runs next sweeps
                group.remove()
        if not isinstance(message, Refused):
            # No submission's fault. The host starts another.
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        folder.rmdir()
        output.unlink()
        return message

    def close(self) -> None:
        """Wait for the ends of all workers, then close the socket; the server ends whatever this lane left."""
        for life in self._leaving:
            # With the server gone no end is said, and the kernel has ended them with it.
            if not life.has_left(GRACE_S):
                life.leave()
        self._server.close()


def _receive(status: socket.socket, seconds: float) -> tuple[Message | None, list[int]]:
    """What the server says of a worker, with its descriptors; None if it is gone.

    Raises:
        TimeoutError: it says nothing.
    """
    status.settimeout(seconds)
    try:
        said, descriptors, _, _ = socket.recv_fds(status, 1 << 16, 1)
    except ConnectionError:
        said, descriptors = b"", []
    return (from_text(said) if said else None), list(descriptors)


def _pid_of(pidfd: int) -> int:
    """A process's number in our own process namespace, which may not be the server's; see proc_pid_fdinfo(5)."""
    # A pidfd names this very process, whatever number it has where; our /proc tells the one that holds here.
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


@dataclass(eq=False)
class _Forked:
    pid: int
    pidfd: int
    status: socket.socket
    leaving: list[_Forked]
    group: cgroup.Group | None = None
    _clean_up: Callable[[], None] | None = None
    _ended: Ended | None = None
    _lost_server: bool = False

    def _end(self, seconds: float) -> Ended | None:
        """How it ended, if that is said in time. The channel closes a little before the server has reaped it."""
        until = time.monotonic() + seconds
        while self._ended is None:
            try:
                message, _ = _receive(self.status, max(0.0, until - time.monotonic()))
            except (TimeoutError, BlockingIOError):
                break
            if message is None:
                self._lost_server = True
                break
            self._ended = message if isinstance(message, Ended) else None
        return self._ended

    def kill(self) -> None:
        # By the server, which alone knows the box: a pid of ours could be another process's by now.
        with contextlib.suppress(OSError):
            self.status.shutdown(socket.SHUT_WR)

    def signal(self, number: int) -> None:
        # By the descriptor: a process that was reaped has given its number back.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        # Nobody waits while the kernel takes its memory apart.
        self._clean_up = clean_up
        if not self.has_left(0):
            self.leaving.append(self)

    def has_left(self, seconds: float) -> bool:
        """Whether it has ended; then it is cleaned up after."""
        if self._end(seconds) is None:
            return False
        self.leave()
        return True

    def leave(self) -> None:
        """Clean up after it."""
        os.close(self.pidfd)
        self.status.close()
        with contextlib.suppress(OSError):  # the lane's folder goes with the lane
            if self._clean_up is not None:
                self._clean_up()
        with contextlib.suppress(OSError):  # it is not empty: whoever runs next sweeps
            if self.group is not None:
                self.group.remove()

    def ran_out_of_memory(self) -> bool:
        return self.group is not None and self.group.was_killed()

    def exit_code(self) -> int | None:
        ended = self._end(GRACE_S)
        if ended is None and self._lost_server:  # it ended with the server, which is no submission's fault
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        return None if ended is None else ended.status

    def cpu_at_end(self) -> float | None:
        ended = self._end(GRACE_S)
        return None if ended is None else ended.cpu_s
