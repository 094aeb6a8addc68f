"""Starting, asking and ending workers. `start_worker` is the one seam: by fork from the worker server, or by spawning.

A worker's death, time-out, limit or protocol fault is a `WorkerLost`. It derives from BaseException and is recorded by
the `Sitting`, so that no `pytest.raises` in a check can swallow it.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from grader.model import Limits, Verdict
from grader.processes import clean_environment, isolated
from grader.wire.frames import Channel, ChannelClosed, Frame, ProtocolFault, Transport
from grader.wire.transport import PatientPipes, SocketTransport

_GRACE_S = 2.0
_LONGEST_WAIT_S = 1.0
_SHORTEST_WAIT_S = 0.002
_WARM_UP_S = 120.0


class WorkerLost(BaseException):
    """A worker that can answer no more.

    Attributes:
        verdict: what the check gets.
        message: for the student.
        in_load: whether it was lost while it loaded the submission.
    """

    def __init__(self, verdict: Verdict, message: str, *, in_load: bool = False) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.in_load = in_load


class Life(Protocol):
    """How a started process is watched and ended; differs between the two ways to start one."""

    def cpu_s(self) -> float | None:
        """CPU seconds used so far, read from outside, or None where that cannot be read."""

    def kill(self) -> None:
        """End it with everything it started."""

    def exit_code(self) -> int | None:
        """Wait a moment for its end; negative for a signal, None if it does not end."""

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        """Clean up once the process is gone, now or later."""


@dataclass
class Worker:
    """One process in which student code runs. Close it."""

    channel: Channel
    life: Life
    folder: Path
    output: Path
    limits: Limits

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def ask(self, tree: dict[str, Any], data: list[bytes], seconds: float, what: str) -> Frame:
        """Send a request and wait for its reply.

        Args:
            tree: the request.
            data: its memory blocks.
            seconds: CPU seconds allowed.
            what: for messages, such as "your `total`".

        Raises:
            WorkerLost: there will be no reply.
        """
        number = next(self._numbers)
        patience = self._patience(seconds, what)
        try:
            self.channel.send(number, tree, data, patience)
            frame = self.channel.receive(patience)
            if frame.number != number:
                raise ProtocolFault("a reply to another request")
        except ChannelClosed:
            raise self._died(what) from None
        except ProtocolFault as error:
            raise WorkerLost(Verdict.CRASHED, f"{what} broke the connection to the grader ({error})") from None
        if self.printed() > self.limits.output_kb * 1024:
            raise self._flooded(what)
        return frame

    def _patience(self, seconds: float, what: str) -> Callable[[], float]:
        """CPU time decides; wall time is a loose multiple of it, so that a busy machine ends nothing."""
        started, cpu_before = time.monotonic(), self.life.cpu_s()

        def wait() -> float:
            used = self.life.cpu_s()
            cpu_left = math.inf if used is None or cpu_before is None else seconds - (used - cpu_before)
            wall_left = seconds * self.limits.wall_factor - (time.monotonic() - started)
            if cpu_left <= 0 or wall_left <= 0:
                raise WorkerLost(Verdict.TIMED_OUT, f"{what} did not finish in {seconds:g} seconds")
            if self.printed() > self.limits.output_kb * 1024:
                raise self._flooded(what)
            return max(_SHORTEST_WAIT_S, min(cpu_left, wall_left, _LONGEST_WAIT_S))

        return wait

    def _flooded(self, what: str) -> WorkerLost:
        return WorkerLost(Verdict.OVER_LIMIT, f"{what} printed more than {self.limits.output_kb / 1024:g} MB")

    def _died(self, what: str) -> WorkerLost:
        code = self.life.exit_code()
        if self.printed() > self.limits.output_kb * 1024:
            return self._flooded(what)
        if code is None:
            return WorkerLost(Verdict.CRASHED, f"{what} closed the connection to the grader")
        if code >= 0:
            return WorkerLost(Verdict.CRASHED, f"{what} ended Python before it answered (exit status {code})")
        name = _signal_name(-code)
        if name == "SIGXCPU" or (name == "SIGKILL" and self._used_its_cpu()):
            return WorkerLost(Verdict.TIMED_OUT, f"{what} used up the CPU time of the whole exercise")
        return WorkerLost(Verdict.CRASHED, f"{what} crashed Python itself ({name})")

    def _used_its_cpu(self) -> bool:
        return (self.life.cpu_s() or 0.0) >= self.limits.exercise_s - 1

    def printed(self) -> int:
        """Bytes of output so far."""
        try:
            return self.output.stat().st_size
        except OSError:
            return 0

    def read_output(self, limit: int) -> str:
        """The first bytes of what student code printed."""
        with self.output.open("rb") as file:
            return file.read(limit).decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """End the process and remove its folder, as soon as it is gone."""
        self.life.kill()
        self.channel.close()
        self.life.when_gone(self._remove_places)

    def _remove_places(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.output.unlink(missing_ok=True)


class Starter(Protocol):
    """One way to start workers."""

    def start_worker(self, limits: Limits) -> Worker:
        """A worker with nothing loaded."""

    def close(self) -> None:
        """End what was kept ready."""


def _worker_limits(limits: Limits) -> dict[str, int]:
    return {
        "cpu_s": math.ceil(limits.exercise_s),
        "memory_mb": limits.memory_mb,
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
    """

    def __init__(self, server: socket.socket, root: Path) -> None:
        self._server = server
        self._root = root
        self._numbers = itertools.count()
        self._pids: dict[int, int] = {}
        self._codes: dict[int, int] = {}
        self._clean_ups: dict[int, Callable[[], None]] = {}

    def start_worker(self, limits: Limits) -> Worker:
        """A fork of the server."""
        number = next(self._numbers)
        folder, output = _new_places(self._root, number)
        ours, theirs = socket.socketpair()
        sink = os.open(output, os.O_WRONLY | os.O_APPEND)
        told = {"do": "worker", "number": number, "folder": str(folder), "limits": _worker_limits(limits)}
        socket.send_fds(self._server, [json.dumps(told).encode()], [theirs.fileno(), sink])
        theirs.close()
        os.close(sink)
        while number not in self._pids:
            self._listen(_WARM_UP_S)
        life = _Forked(self._pids[number], number, self)
        return Worker(Channel(SocketTransport(ours)), life, folder, output, limits)

    def exit_code(self, number: int) -> int | None:
        """Wait a moment for a worker's end."""
        until = time.monotonic() + _GRACE_S
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
        told = self._server.recv(1 << 16)
        if not told:
            raise ConnectionError("the worker server is gone")
        message = json.loads(told)
        if "pid" in message:
            self._pids[message["number"]] = message["pid"]
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
        for number in list(self._clean_ups):
            self.exit_code(number)
        self._server.close()


@dataclass
class _Forked:
    pid: int
    number: int
    starter: ForkStarter

    def cpu_s(self) -> float | None:
        """Read the process's CPU clock; the number is what clock_getcpuclockid(3) makes of a pid."""
        try:
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return None

    def kill(self) -> None:
        self.starter.kill(self.number)

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        self.starter.when_gone(self.number, clean_up)

    def exit_code(self) -> int | None:
        return self.starter.exit_code(self.number)


class SpawnStarter:
    """Starts a fresh interpreter for each worker and keeps one warm spare. Needs neither fork nor Unix sockets.

    Args:
        root: a private folder for the workers' folders.
        on_start: told the pid of each, so that the host can end what outlives this process.
    """

    def __init__(self, root: Path, on_start: Callable[[int], None]) -> None:
        self._root = root
        self._on_start = on_start
        self._numbers = itertools.count()
        self._spare: _Spawned | None = None
        self._spare = self._spawn()

    def _spawn(self) -> _Spawned:
        folder, output = _new_places(self._root, next(self._numbers))
        with output.open("ab") as sink:
            process = subprocess.Popen(
                isolated("grader.worker", "spawned"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=clean_environment(PYTHONHASHSEED="0"),
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

    def start_worker(self, limits: Limits) -> Worker:
        """The warm spare; another is started to take its place."""
        spare = self._spare or self._spawn()
        self._spare = None
        until = time.monotonic() + _WARM_UP_S

        def patience() -> float:
            if time.monotonic() > until:
                raise WorkerLost(Verdict.BROKEN, "a fresh interpreter did not start")
            return _LONGEST_WAIT_S

        spare.channel.receive(patience)
        spare.channel.send(0, {"folder": str(spare.folder), "limits": _worker_limits(limits)})
        self._spare = self._spawn()
        return Worker(spare.channel, spare, spare.folder, spare.output, limits)

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

    def cpu_s(self) -> float | None:
        if sys.platform != "linux":
            return None
        try:
            return time.clock_gettime((~self.process.pid << 3) | 2)
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

    def exit_code(self) -> int | None:
        try:
            return self.process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            return None


class Sitting:
    """One exercise of one author: its worker, renewed when lost, and what the rest of its checks get. Close it.

    After two lost workers, or one load time-out, the remaining checks get that verdict and no worker is started.

    Args:
        starter: starts workers.
        module: name of the exercise module.
        files: the submission's files by relative name.
        limits: of the exercise.
        owner: for messages: "your" or "the reference's".
        secret: whether the files must not stay on disk while the worker lives.
    """

    def __init__(
        self,
        starter: Starter,
        module: str,
        files: Mapping[str, bytes],
        limits: Limits,
        owner: str = "your",
        *,
        secret: bool = False,
    ) -> None:
        self.module = module
        self.owner = owner
        self.secret = secret
        self.limits = limits
        self.lost: WorkerLost | None = None
        self.worker: Worker | None = None
        self.lives = 0
        self._files = dict(files)
        self._starter = starter
        self._losses = 0
        self._final: WorkerLost | None = None
        self._outputs: dict[int, str] = {}

    def begin_check(self) -> None:
        """Forget what was recorded for the check before."""
        self.lost = None

    def live_worker(self) -> Worker:
        """The worker, or a new one with nothing loaded.

        Raises:
            WorkerLost: there will be no other.
        """
        if self._final is not None:
            self.lost = self._final
            raise self._final
        if self.worker is None:
            self.worker = self._starter.start_worker(self.limits)
            self.lives += 1
        return self.worker

    def ask(self, tree: dict[str, Any], data: list[bytes], seconds: float, what: str) -> Frame:
        """Ask the worker; its loss is recorded.

        Raises:
            WorkerLost: there was no reply.
        """
        worker = self.live_worker()
        try:
            return worker.ask(tree, data, seconds, what)
        except WorkerLost as lost:
            self.lose(lost, in_load=tree["do"] == "load")
            raise

    def lose(self, lost: WorkerLost, *, in_load: bool = False) -> None:
        """Record a loss and end the worker."""
        self.lost = lost
        lost.in_load = in_load
        self._losses += 1
        if self._losses >= 2 or (in_load and lost.verdict is Verdict.TIMED_OUT):
            self._final = lost
        self.outputs()
        self.close()

    def outputs(self) -> dict[int, str]:
        """The beginning of what each worker printed so far."""
        if self.worker is not None:
            self._outputs[self.lives] = self.worker.read_output(self.limits.shown_output_kb * 1024 + 1)
        return dict(self._outputs)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The submission's files by relative name."""
        return self._files

    def is_worn(self) -> bool:
        """Whether the worker has used half of the CPU time that it may use in its life."""
        return self.worker is not None and (self.worker.life.cpu_s() or 0.0) > self.limits.exercise_s / 2

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None


def _nothing() -> None:
    pass


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
