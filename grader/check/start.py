"""The one seam at which workers start: forked by the worker server, or spawned as fresh interpreters."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.check.workers import GRACE_S, LONGEST_WAIT_S, Worker, WorkerLost
from grader.confine import cgroup
from grader.confine.limits import WorkerLimits
from grader.model import Limits, Verdict
from grader.processes import workers_environment
from grader.wire.frames import Caps, Channel, ChannelClosed, Transport
from grader.wire.transport import PatientPipes, SocketTransport

_WARM_UP_S = 120.0
_SAID_BYTES = 4000
_SLACK_MB = 256
"""For private files and copies of the server's pages, beyond the memory that an exercise allows."""


_ROOM_MB = 16 << 20
"""Address space that CUDA takes for a map of all memory, its own and the host's; it is not used memory."""


def _worker_limits(limits: Limits, room_mb: int = 0) -> dict[str, int]:
    return {
        "cpu_s": math.ceil(limits.exercise_s),
        "memory_mb": limits.memory_mb + room_mb,
        "file_mb": limits.file_mb,
        "processes": limits.processes,
    }


def _new_places(root: Path, number: int) -> tuple[Path, Path]:
    """An empty folder for the worker and a file for its output, which is not in that folder."""
    folder, output = root / f"w{number}", root / f"w{number}.out"
    folder.mkdir(mode=0o700)
    output.touch(mode=0o600)
    return folder, output


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
        self._codes: dict[int, int] = {}
        self._groups = groups
        self._clean_ups: dict[int, Callable[[], None]] = {}

    def start_worker(self, limits: Limits, *, spared: bool = False) -> Worker:
        """A fork of the server."""
        number = next(self._numbers)
        folder, output = _new_places(self._root, number)
        ours, theirs = socket.socketpair()
        sink = os.open(output, os.O_WRONLY | os.O_APPEND)
        told = {"do": "worker", "number": number, "folder": str(folder), "limits": _worker_limits(limits)}
        told["spared"] = spared
        socket.send_fds(self._server, [json.dumps(told).encode()], [theirs.fileno(), sink])
        theirs.close()
        os.close(sink)
        while number not in self._pidfds:
            self._listen(_WARM_UP_S)
        life = _Forked(_pid_of(self._pidfds.pop(number)), number, self)
        worker = Worker(Channel(SocketTransport(ours), _caps(limits)), life, folder, output, limits)
        if self._groups is not None:
            life.group = self._enclosed(self._groups, life, limits)
        return _settled(worker)

    def _enclosed(self, groups: cgroup.Groups, life: _Forked, limits: Limits) -> cgroup.Group | None:
        memory = limits.memory_mb + _SLACK_MB
        try:
            return groups.enclose(life.pid, memory, WorkerLimits.read(_worker_limits(limits)).tasks)
        except ProcessLookupError:  # it has ended already, which is told when it is asked
            return None

    def exit_code(self, number: int) -> int | None:
        """Wait a moment for a worker's end."""
        until = time.monotonic() + GRACE_S
        while number not in self._codes and (left := until - time.monotonic()) > 0:
            try:
                self._listen(left)
            except TimeoutError:
                break
        return self._codes.get(number)

    def kill(self, number: int) -> None:
        """Tell the server to end a worker."""
        if number not in self._codes:
            with contextlib.suppress(OSError):
                self._server.send(json.dumps({"do": "kill", "number": number}).encode())

    def _listen(self, seconds: float) -> None:
        self._server.settimeout(seconds)
        told, descriptors, _, _ = socket.recv_fds(self._server, 1 << 16, 1)
        if not told:
            raise ConnectionError("the worker server is gone")
        message = json.loads(told)
        if descriptors:
            self._pidfds[message["number"]] = descriptors[0]
        else:
            self._codes[message["number"]] = message["status"]
            self._clean_ups.pop(message["number"], _nothing)()

    def when_gone(self, number: int, clean_up: Callable[[], None]) -> None:
        """Clean up after a worker once its end is told: nobody waits while the kernel takes its memory apart."""
        if number in self._codes:
            clean_up()
        else:
            self._clean_ups[number] = clean_up

    def close(self) -> None:
        """Wait for the ends of all workers, then close the socket; the server ends whatever this lane left."""
        with contextlib.suppress(OSError):  # the server is gone, and its workers with it
            for number in list(self._clean_ups):
                self.exit_code(number)
        self._server.close()


def _caps(limits: Limits) -> Caps:
    """No message is larger than the memory that the worker may have."""
    most = Caps()
    return replace(most, data_bytes=min(most.data_bytes, limits.memory_mb << 20))


def _settled(worker: Worker) -> Worker:
    """The same once it says that it is confined. What fails before that is our fault.

    Raises:
        WorkerLost: it never said so.
    """
    try:
        worker.channel.receive(_patience())
    except ChannelClosed:
        raise _stillborn(worker) from None
    return worker


def _patience() -> Callable[[], float]:
    until = time.monotonic() + _WARM_UP_S

    def patience() -> float:
        if time.monotonic() > until:
            raise WorkerLost(Verdict.BROKEN, "a worker did not start")
        return LONGEST_WAIT_S

    return patience


def _stillborn(worker: Worker) -> WorkerLost:
    said = worker.read_output(_SAID_BYTES)
    code = worker.life.exit_code()
    worker.close()
    return WorkerLost(Verdict.BROKEN, f"a worker ended before it was confined (exit status {code}): {said}")


def _pid_of(pidfd: int) -> int:
    """A process's number in our own process namespace, which may not be the server's; see proc_pid_fdinfo(5)."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
    finally:
        os.close(pidfd)


@dataclass
class _Forked:
    pid: int
    number: int
    starter: ForkStarter
    group: cgroup.Group | None = None

    def cpu_s(self) -> float | None:
        """Read the process's CPU clock; the number is what clock_getcpuclockid(3) makes of a pid."""
        if self.pid <= 0:  # it had ended before its number was asked for
            return None
        try:
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return None

    def kill(self) -> None:
        self.starter.kill(self.number)

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        def leave() -> None:
            clean_up()
            if self.group is not None:
                self.group.remove()

        self.starter.when_gone(self.number, leave)

    def ran_out_of_memory(self) -> bool:
        return self.group is not None and self.group.was_killed()

    def exit_code(self) -> int | None:
        return self.starter.exit_code(self.number)


class SpawnStarter:
    """Starts a fresh interpreter for each worker and keeps one warm spare. Needs neither fork nor Unix sockets.

    Args:
        root: a private folder for the workers' folders.
        command: starts an interpreter, behind a wall if there is one.
        on_start: told the pid of each, so that the host can end what outlives this process.
        roomy: whether they need address space for CUDA.
    """

    def __init__(
        self, root: Path, command: Sequence[str], on_start: Callable[[int], None], *, roomy: bool = False
    ) -> None:
        self._root = root
        self._room_mb = _ROOM_MB if roomy else 0
        self._command = command
        self._on_start = on_start
        self._numbers = itertools.count()
        self._spare: _Spawned | None = None
        self._spare = self._spawn()

    def _spawn(self) -> _Spawned:
        folder, output = _new_places(self._root, next(self._numbers))
        with output.open("ab") as sink:
            process = subprocess.Popen(
                [*self._command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=workers_environment(),
                cwd=folder,
                start_new_session=True,
            )
        self._on_start(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        transport: Transport = PatientPipes(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        process.stdin.close()
        process.stdout.close()
        return _Spawned(process, Channel(transport), folder, output)

    def start_worker(self, limits: Limits, *, spared: bool = False) -> Worker:
        """The warm spare; another is started to take its place."""
        del spared  # the host ends the whole lane
        spare = self._spare or self._spawn()
        self._spare = None
        spare.channel.caps = _caps(limits)
        worker = Worker(spare.channel, spare, spare.folder, spare.output, limits)
        try:
            spare.pid = int(spare.channel.receive(_patience()).tree["pid"])
            spare.channel.send(0, {"folder": str(spare.folder), "limits": _worker_limits(limits, self._room_mb)})
        except ChannelClosed:
            raise _stillborn(worker) from None
        self._spare = self._spawn()
        return _settled(worker)

    def close(self) -> None:
        """End the spare."""
        if self._spare is not None:
            Worker(self._spare.channel, self._spare, self._spare.folder, self._spare.output, Limits()).close()


@dataclass
class _Spawned:
    process: subprocess.Popen[bytes]
    channel: Channel
    folder: Path
    output: Path
    pid: int = 0

    def cpu_s(self) -> float | None:
        if sys.platform != "linux":
            return None
        try:
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return None

    def kill(self) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        self.exit_code()
        clean_up()

    def ran_out_of_memory(self) -> bool:
        return False

    def exit_code(self) -> int | None:
        try:
            return self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return None


def _nothing() -> None:
    pass
