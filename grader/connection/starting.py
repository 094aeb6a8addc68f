"""How workers start: forked by the worker server, which has torch imported already, or as fresh interpreters.

Fresh interpreters are for systems where fork is missing, or unsafe after torch is imported; one is warm ahead of need.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.connection.process import GRACE_S, WorkerProcess
from grader.connection.record import Waiting
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.sandbox import cgroup, clock
from grader.sandbox.messages import Ended, Refused, Started, StartWorker, WorkerLimits, receive, send, to_tree
from grader.sandbox.process import workers_environment
from grader.wire.frames import Caps, Channel
from grader.wire.transport import ChannelClosed, SocketTransport, pipes_of, until

_WARM_UP_S = 120.0
_SAID_BYTES = 4000
_SLACK_MB = 256
"""For private files and copies of the server's pages, beyond the memory that an exercise allows."""

_RAN_S = 0.05
"""CPU time that a stopped worker may have used: a signal finds a process that waits for a core later."""

_ROOM_S = 2.0
"""How long is waited for room on the machine: namespaces that were left are counted for a while."""
_LOOK_S = 0.05

_SERVER_GONE = "the worker server is gone"
_ROOM_MB = 16 << 20
"""Address space that CUDA takes for a map of all memory, its own and the host's; it is not used memory."""


class Starter:
    """One way to start workers, with what all ways share.

    Args:
        root: a private folder for the workers' folders.

    Attributes:
        make_room: ends a worker that is ready for later, and says whether there was one.
        students: the workers in which submissions run now.
        started: how many workers it has started.
        tested: of which kinds a worker was seen to work: of plain ones (True), and of those with PyTorch.
        waiting: counts the time for which this process waits for workers.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._numbers = itertools.count()
        self.make_room: Callable[[], bool] = lambda: False
        self.students: set[WorkerProcess] = set()
        self.started = 0
        self.tested: set[bool] = set()
        self.waiting = Waiting()

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, plain: bool = False
    ) -> WorkerProcess:
        """A worker with nothing loaded.

        Args:
            limits: what it may use.
            spared: whether it outlives an exercise that takes too long.
            simulates: whether it will see a simulated accelerator.
            plain: whether it has the standard library alone.
        """
        raise NotImplementedError

    def new_places(self) -> tuple[Path, Path]:
        """An empty folder for a worker and a file for its output, which is not in that folder."""
        # The output lies outside of the folder, which student code may fill and empty as it likes.
        name = f"w{next(self._numbers)}"
        folder, output = self._root / name, self._root / f"{name}.out"
        folder.mkdir(mode=0o700)
        output.touch(mode=0o600)
        return folder, output

    @contextmanager
    def alone(self, worker: WorkerProcess | None) -> Iterator[None]:
        """Meanwhile no other worker with a submission runs. One that did, although it was stopped, is ended."""
        others = self.students - {worker}
        before: dict[WorkerProcess, float | None] = {}
        try:
            for other in others:
                other.stop()
                before[other] = clock.cpu_s(other.pid)
            yield
        finally:
            for other in others:
                ran, now = before.get(other), clock.cpu_s(other.pid)
                # Something that it had prepared woke it up; by accident nothing does.
                if ran is not None and now is not None and now - ran > _RAN_S:
                    other.kill()
                other.go_on()

    def close(self) -> None:
        """End what is ready for later."""


class ForkStarter(Starter):
    """Asks the worker server, which has torch imported already; for plain workers, the one that never had it.

    Args:
        server: this lane's socket to it.
        root: a private folder for the workers' folders.
        groups: where caps on whole workers can be set, if anywhere.
        plain: this lane's socket to the server of plain workers, if there is one.

    Attributes:
        leaving: workers that were ended, and of which the server has not said yet that they are gone.
    """

    def __init__(
        self,
        server: socket.socket,
        root: Path,
        groups: cgroup.Group | None = None,
        *,
        plain: socket.socket | None = None,
    ) -> None:
        super().__init__(root)
        self._servers = {False: server} if plain is None else {False: server, True: plain}
        self._groups = groups
        self.leaving: list[_Forked] = []

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, plain: bool = False
    ) -> WorkerProcess:
        """A fork of the server.

        Raises:
            WorkerLost: the machine has no room for one; the verdict is `broken`.
        """
        latest = time.monotonic() + _ROOM_S
        while True:
            self.leaving[:] = [worker for worker in self.leaving if not worker.has_left(0)]
            started = self._start(self._servers[plain], limits, spared, simulates)
            if isinstance(started, _Forked):
                self.started += 1
                _first_words(started)  # that it is confined
                started.enter_group()
                return started
            if time.monotonic() < latest:
                time.sleep(_LOOK_S)
            # Fewer at once: what is kept for later makes room for what is needed now.
            elif self.make_room():
                latest = time.monotonic() + _ROOM_S
            else:
                raise WorkerLost(Verdict.BROKEN, f"this machine has no room for one more worker: {started.why}")

    def _start(self, server: socket.socket, limits: Limits, spared: bool, simulates: bool) -> _Forked | Refused:
        own = _worker_limits(limits)
        # Made from here: control groups are not seen behind the wall.
        group = self._groups.make(limits.memory_mb + _SLACK_MB, own.tasks) if self._groups else None
        doors = group.doors() if group else []
        folder, output = self.new_places()
        status, its_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours, theirs = socket.socketpair()
        message, descriptors = None, list[int]()
        with its_status, theirs, output.open("ab") as sink, contextlib.suppress(OSError):
            wanted = StartWorker(str(folder), own, spared, simulates, 0 if group else limits.memory_mb + _SLACK_MB)
            send(server, wanted, [its_status.fileno(), theirs.fileno(), sink.fileno(), *doors])
            # The server has its copies. With ours gone the channel closes when the worker ends, in any way.
            its_status.close()
            status.settimeout(_WARM_UP_S)
            message, descriptors = receive(status)
        for door in doors:
            os.close(door)
        if isinstance(message, Started):
            channel, pid = Channel(SocketTransport(ours), _caps_of(limits)), _pid_of(descriptors[0])
            pidfd, *peak = descriptors
            given = channel, pid, folder, output, limits
            return _Forked(*given, pidfd, peak, status, self.leaving, group, waiting=self.waiting)
        for end in (status, ours):
            end.close()
        if group is not None:
            group.remove(GRACE_S)
        if not isinstance(message, Refused):
            # No submission's fault. The host starts another.
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        folder.rmdir()
        output.unlink()
        return message

    def close(self) -> None:
        """Wait for the ends of all workers, then close the socket; the server ends all that this lane left."""
        latest = time.monotonic() + GRACE_S
        for worker in self.leaving:
            # With the server gone no end is said, and the kernel has ended them with it.
            if not worker.has_left(max(0.0, latest - time.monotonic())):
                worker.leave()
        for server in self._servers.values():
            server.close()


def _pid_of(pidfd: int) -> int:
    """A process's number in our own process namespace, which may not be the server's; see proc_pid_fdinfo(5)."""
    # A pidfd names this very process in each namespace; our /proc shows its number here.
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


@dataclass(eq=False)
class _Forked(WorkerProcess):
    pidfd: int
    peak: list[int]
    status: socket.socket
    leaving: list[_Forked]
    group: cgroup.Group | None
    _ended: Ended | None = None
    _lost_server: bool = False

    def enter_group(self) -> None:
        """See to it that its limits hold: nothing of a submission has been sent to it yet."""
        if self.group is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended already, which its next request shows
                self.group.take_in(self.pid)

    def _end(self, seconds: float) -> Ended | None:
        """How it ended, if that is said in time. The channel closes a little before the server has reaped it."""
        if self._ended is None:
            # `Ended` is all that comes after `Started`.
            with contextlib.suppress(TimeoutError, BlockingIOError):
                self.status.settimeout(seconds)
                message, _ = receive(self.status)
                self._lost_server = message is None
                self._ended = message if isinstance(message, Ended) else None
        return self._ended

    def kill(self) -> None:
        # By the server, which reaps it: a pid of ours could be another process's by now.
        with contextlib.suppress(OSError):
            self.status.shutdown(socket.SHUT_WR)

    def signal(self, number: int) -> None:
        # By the descriptor: a process that was reaped has given its number back.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def reset_peak(self) -> None:
        # The file belongs to root where it was forked from a process that an ordinary user started.
        for descriptor in self.peak:
            with contextlib.suppress(OSError):  # it has ended, which its next request shows
                os.write(descriptor, clock.RESET)

    def when_gone(self) -> None:
        # Nobody waits while the kernel takes its memory apart.
        if not self.has_left(0):
            self.leaving.append(self)

    def has_left(self, seconds: float) -> bool:
        """Whether it has ended, with all that it started; then it is cleaned up after."""
        if self._end(seconds) is None or (self.group is not None and not self.group.remove(seconds)):
            return False
        self.leave()
        return True

    def leave(self) -> None:
        """Clean up after it."""
        for descriptor in (self.pidfd, *self.peak):
            os.close(descriptor)
        self.status.close()
        with contextlib.suppress(OSError):  # the lane's folder goes with the lane
            self.remove_places()
        if self.group is not None:
            self.group.remove(_LOOK_S)  # if it is there still: the server is gone, or something of the worker stays

    def ran_out_of_memory(self) -> bool:
        return bool(self._ended and self._ended.out_of_memory) or (self.group is not None and self.group.was_killed())

    def ended(self) -> Ended | None:
        ended = self._end(GRACE_S)
        if ended is None and self._lost_server:  # it ended with the server, which is not a submission's fault
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        return ended


class SpawnStarter(Starter):
    """Starts a fresh interpreter for each worker and keeps one warm spare. Needs neither fork nor Unix sockets.

    Args:
        root: a private folder for the workers' folders.
        command: starts an interpreter.
        on_start: called with the pid of each, so that the host can end what outlives this process.
        roomy: whether they need address space for CUDA.
        plain: starts an interpreter that has the standard library alone.
        spares: which spares are started at once: False for those with PyTorch, True for plain ones.
    """

    def __init__(
        self,
        root: Path,
        command: Sequence[str],
        on_start: Callable[[int], None],
        *,
        roomy: bool = False,
        plain: Sequence[str] = (),
        spares: Collection[bool] = (False,),
    ) -> None:
        super().__init__(root)
        self._room_mb = _ROOM_MB if roomy else 0
        self._commands = {False: command, True: plain}
        self._on_start = on_start
        self._spares: dict[bool, WorkerProcess] = {is_plain: self._spawn(plain=is_plain) for is_plain in spares}

    def _spawn(self, *, plain: bool = False) -> WorkerProcess:
        folder, output = self.new_places()
        with output.open("ab") as sink:
            # Its output is what goes to standard error: standard input and output are the channel. A session of its own
            # lets `kill` end what it started, too.
            process = subprocess.Popen(
                self._commands[plain],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=workers_environment(),
                cwd=folder,
                start_new_session=True,
            )
        # Before anything else can fail: should this process be killed, the host ends what it knows of.
        self._on_start(process.pid)
        given = Channel(pipes_of(process)), process.pid, folder, output, Limits()
        return _Spawned(*given, process, waiting=self.waiting)

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, plain: bool = False
    ) -> WorkerProcess:
        """The warm spare; another is started to take its place."""
        del simulates  # the host ends the whole lane; what was not imported ahead is imported when it is used
        # Importing torch takes a while. A spare has had that time already; a start that failed leaves no spare.
        worker = self._spares.pop(plain, None) or self._spawn(plain=plain)
        self.started += 1
        worker.limits, worker.channel.caps = limits, _caps_of(limits)
        _first_words(worker)  # that it is warm
        wanted = StartWorker(str(worker.folder), _worker_limits(limits, self._room_mb), spared)
        with contextlib.suppress(ChannelClosed):  # which is met by the wait for its answer
            worker.channel.send(0, to_tree(wanted))
        _first_words(worker)  # that it is confined
        # Started now and not before, so that it imports torch while this worker is at work, and does not delay it.
        self._spares[plain] = self._spawn(plain=plain)
        return worker

    def close(self) -> None:
        """End the spares."""
        for spare in self._spares.values():
            spare.close()


@dataclass(eq=False)
class _Spawned(WorkerProcess):
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, number)

    def when_gone(self) -> None:
        # No server here says that it ended, so it is waited for: a folder is swept once nothing writes there.
        self.ended()
        self.remove_places()

    def ended(self) -> Ended | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return Ended(self.process.wait(GRACE_S))
        return None


def _worker_limits(limits: Limits, room_mb: int = 0) -> WorkerLimits:
    """The limits of a worker's whole life.

    Args:
        limits: of the exercise.
        room_mb: MiB of address space besides, which is not used memory.
    """
    # The kernel counts CPU time over a worker's whole life, so what it is given there is the exercise's, not a call's.
    return WorkerLimits(math.ceil(limits.exercise_s), limits.memory_mb + room_mb, limits.file_mb, limits.processes)


def _caps_of(limits: Limits) -> Caps:
    """No message is larger than the memory that the worker may have."""
    return Caps(data_bytes=min(Caps().data_bytes, limits.memory_mb << 20))


def _first_words(worker: WorkerProcess) -> None:
    """Wait for a worker to say how far its start has come. A failure before it is confined is ours.

    Raises:
        WorkerLost: it ends, or says nothing; it is closed.
    """
    try:
        worker.channel.receive(until(time.monotonic() + _WARM_UP_S))
    except (ChannelClosed, TimeoutError):
        # Read before it is closed: closing removes the output.
        said, _ = worker.read_output(_SAID_BYTES)
        ended = worker.ended()
        worker.close()
        # Until then no line of the submission has run, so the loss is `broken` and costs no points.
        status = ended.status if ended else None
        text = f"a worker ended before it was confined (exit status {status}): {said}"
        raise WorkerLost(Verdict.BROKEN, text) from None
