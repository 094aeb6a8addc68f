"""Asking and ending workers. How they start is told in `start`.

A worker's death, time-out, limit or protocol fault is a `WorkerLost`. It derives from BaseException and is recorded by
the `Sitting`, so that no `pytest.raises` in a check can swallow it.
"""

from __future__ import annotations

import itertools
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from grader.model import Limits, Verdict
from grader.sweep import sweep
from grader.wire.frames import Channel, ChannelClosed, Frame, ProtocolFault

GRACE_S = 2.0
LONGEST_WAIT_S = 1.0
_SHORTEST_WAIT_S = 0.002
_NO_MEMORY = 71  # as grader.worker.serve says it
_LOSSES_OF_ONE = 2
_LOSSES_OF_ALL = 4


class WorkerLost(BaseException):
    """A worker that can answer no more.

    Attributes:
        verdict: what the check gets.
        message: for the student.
        in_load: whether it was lost while it loaded the submission.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.in_load = False


class Life(Protocol):
    """How a started process is watched and ended; differs between the two ways to start one."""

    pid: int
    """The process, in the numbering of our own process namespace."""

    def cpu_s(self) -> float | None:
        """CPU seconds used so far, read from outside, or None where that cannot be read."""

    def kill(self) -> None:
        """End it with everything it started."""

    def exit_code(self) -> int | None:
        """Wait a moment for its end; negative for a signal, None if it does not end."""

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        """Clean up once the process is gone, now or later."""

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended it, or something in it, for want of memory."""


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
        self._printed = self.output.open("rb")  # from the start: a file can be made to be slow to open

    def ask(
        self,
        tree: dict[str, Any],
        data: list[bytes],
        seconds: float,
        what: str,
        shared: tuple[int, int] | None = None,
    ) -> Frame:
        """Send a request and wait for its reply.

        Args:
            tree: the request.
            data: its memory blocks.
            seconds: CPU seconds allowed.
            what: for messages, such as "your `total`".
            shared: in place of `data`, memory that the worker maps: its descriptor and its size in bytes.

        Raises:
            WorkerLost: there will be no reply.
        """
        number = next(self._numbers)
        patience = self._patience(seconds, what)
        try:
            if shared is None:
                self.channel.send(number, tree, data, patience)
            else:
                self.channel.send_mapped(number, tree, *shared, patience)
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
            return max(_SHORTEST_WAIT_S, min(cpu_left, wall_left, LONGEST_WAIT_S))

        return wait

    def _flooded(self, what: str) -> WorkerLost:
        return WorkerLost(Verdict.OVER_LIMIT, f"{what} printed more than {self.limits.output_kb / 1024:g} MB")

    def _died(self, what: str) -> WorkerLost:
        code = self.life.exit_code()
        if self.printed() > self.limits.output_kb * 1024:
            return self._flooded(what)
        if self.life.ran_out_of_memory() or code == _NO_MEMORY:
            return WorkerLost(Verdict.OVER_LIMIT, f"{what} used more than {self.limits.memory_mb} MB of memory")
        if code is None:
            return WorkerLost(Verdict.CRASHED, f"{what} closed the connection to the grader")
        if code >= 0:
            return WorkerLost(Verdict.CRASHED, f"{what} ended Python before it answered (exit status {code})")
        name = _signal_name(-code)
        if name == "SIGXFSZ":
            return WorkerLost(Verdict.OVER_LIMIT, f"{what} wrote more than {self.limits.file_mb} MB into a file")
        if name == "SIGXCPU" or (name == "SIGKILL" and self._used_its_cpu()):
            return WorkerLost(Verdict.TIMED_OUT, f"{what} used up the CPU time of the whole exercise")
        return WorkerLost(Verdict.CRASHED, f"{what} crashed Python itself ({name})")

    def _used_its_cpu(self) -> bool:
        return (self.life.cpu_s() or 0.0) >= self.limits.exercise_s - 1

    def printed(self) -> int:
        """Bytes of output so far."""
        return 0 if self._printed.closed else os.fstat(self._printed.fileno()).st_size

    def read_output(self, limit: int) -> str:
        """The first bytes of what student code printed."""
        self._printed.seek(0)
        return self._printed.read(limit).decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """End the process and remove its folder, as soon as it is gone."""
        self.life.kill()
        self.channel.close()
        self._printed.close()
        self.life.when_gone(self._remove_places)

    def _remove_places(self) -> None:
        sweep(str(self.folder))
        self.output.unlink(missing_ok=True)


class Starter(Protocol):
    """One way to start workers."""

    def start_worker(self, limits: Limits, *, spared: bool = False) -> Worker:
        """A worker with nothing loaded; one that is spared outlives an exercise that takes too long."""

    def close(self) -> None:
        """End what was kept ready."""


class Sitting:
    """One exercise of one author: its worker, renewed when lost, and what the rest of its checks get. Close it.

    A function that cost two workers is not called again: the checks that call it get that verdict. After two lost
    loads, one load time-out, or four lost workers in all, the remaining checks get it, and no worker is started.

    Args:
        starter: starts workers.
        module: name of the exercise module.
        files: the submission's files by relative name.
        limits: of the exercise.
        owner: for messages: "your" or "the reference's".
        secret: whether the files must not stay on disk while the worker lives.
        device: which accelerator its code sees: "none", "sim" or "cuda".
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
        device: str = "none",
    ) -> None:
        self.module = module
        self.owner = owner
        self.secret = secret
        self.device = device
        self.limits = limits
        self.lost: WorkerLost | None = None
        self.worker: Worker | None = None
        self.lives = 0
        self._files = dict(files)
        self._starter = starter
        self._losses: Counter[str] = Counter()
        self._given_up: dict[str, WorkerLost] = {}
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
            try:
                self.worker = self._starter.start_worker(self.limits, spared=self.secret)
            except WorkerLost as lost:
                self.lose(lost)
                raise
            self.lives += 1
        return self.worker

    def fresh(self) -> Sitting:
        """The same files, for a worker of its own. Close it."""
        own = (self._starter, self.module, self._files, self.limits, self.owner)
        return Sitting(*own, secret=self.secret, device=self.device)

    def ask(
        self,
        tree: dict[str, Any],
        data: list[bytes],
        seconds: float,
        what: str,
        shared: tuple[int, int] | None = None,
    ) -> Frame:
        """Ask the worker; its loss is recorded. The arguments are those of `Worker.ask`.

        Raises:
            WorkerLost: there was no reply.
        """
        if what in self._given_up:
            self.lost = self._given_up[what]
            raise self.lost
        worker = self.live_worker()
        try:
            return worker.ask(tree, data, seconds, what, shared)
        except WorkerLost as lost:
            self.lose(lost, what, in_load=tree["do"] == "load")
            raise

    def lose(self, lost: WorkerLost, what: str = "", *, in_load: bool = False) -> None:
        """Record a loss and end the worker.

        Args:
            lost: the loss.
            what: what was called.
            in_load: whether it was the submission's loading.
        """
        self.lost = lost
        lost.in_load = in_load
        self._losses[what] += 1
        if self._losses[what] >= _LOSSES_OF_ONE:
            self._given_up[what] = lost
        hopeless = in_load and (lost.verdict is Verdict.TIMED_OUT or what in self._given_up)
        if hopeless or self._losses.total() >= _LOSSES_OF_ALL:
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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
