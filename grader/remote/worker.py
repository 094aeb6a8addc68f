"""One worker: asked, watched, and ended. How it starts is told in `fork` and `spawn`."""

from __future__ import annotations

import itertools
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.public import Limit, say
from grader.process import clock
from grader.process.sweep import sweep
from grader.remote.life import Life
from grader.wire.frames import Channel, ChannelClosed, Frame, Patience, ProtocolFault
from grader.wire.raised_rows import FrameRow
from grader.wire.requests import Asked, Reply

GRACE_S = 2.0
LONGEST_WAIT_S = 1.0
_SHORTEST_WAIT_S = 0.002
_UNWATCHED_S = 0.02
"""Most calls are over by then, and no clock was read for them."""
_STOP_S = 2.0
_CAN_STOP = hasattr(signal, "SIGSTOP")  # Windows has no such signal
_CAN_ASK = hasattr(signal, "SIGUSR1")
_LAST_WORDS_S = 0.3
_NO_MEMORY = 71  # as grader.worker.serve says it


@dataclass(eq=False)
class Worker:
    """One process in which student code runs. Close it."""

    channel: Channel
    life: Life
    folder: Path
    output: Path
    limits: Limits

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._asked = 0
        self._last_look: tuple[float, float] | None = None
        self._printed = self.output.open("rb")  # from the start: a file can be made to be slow to open

    def ask(
        self,
        asked: Asked,
        data: list[bytes],
        seconds: float,
        what: str,
        shared: tuple[int, int] | None = None,
    ) -> Frame:
        """Send a request and wait for its reply.

        Args:
            asked: the request.
            data: its memory blocks.
            seconds: CPU seconds allowed.
            what: for messages, such as "your `total`".
            shared: in place of `data`, memory that the worker maps: its descriptor and its size in bytes.

        Raises:
            WorkerLost: there will be no reply.
        """
        patience = self.patience(seconds, what)
        self.send(asked, data, what, patience, shared)
        return self._reply(what, patience)

    def send(
        self,
        asked: Asked,
        data: list[bytes],
        what: str,
        patience: Patience,
        shared: tuple[int, int] | None = None,
    ) -> None:
        """Send a request, with the arguments of `ask`; its replies are read with `more`.

        Raises:
            WorkerLost: it does not take it.
        """
        self._asked = next(self._numbers)
        try:
            if shared is None:
                self.channel.send(self._asked, asked.plain(), data, patience)
            else:
                self.channel.send_mapped(self._asked, asked.plain(), *shared, patience)
        except ChannelClosed:
            raise self._died(what) from None
        except WorkerLost as lost:
            raise self._located(lost) from None

    def more(self, seconds: float, what: str) -> Frame:
        """Wait for the next reply to a request that has several. The arguments and errors are those of `ask`."""
        return self._reply(what, self.patience(seconds, what))

    def _reply(self, what: str, patience: Patience) -> Frame:
        try:
            frame = self.channel.receive(patience)
            # No more replies to a request than it has. One kept ready would be read as the answer to the next question.
            if frame.number != self._asked:
                raise ProtocolFault("a reply to another request")
        except WorkerLost as lost:
            raise self._located(lost) from None
        except ChannelClosed:
            raise self._died(what) from None
        except ProtocolFault as error:
            raise WorkerLost(Verdict.CRASHED, say("{} broke the connection to the grader", what), error) from None
        # A call that printed much and answered between two looks is found out here.
        if self.printed() > self.limits.output_kb * 1024:
            raise self._flooded(what)
        return frame

    def _located(self, lost: WorkerLost) -> WorkerLost:
        if lost.verdict is Verdict.TIMED_OUT:
            lost.frames = self._where_it_is()
        return lost

    def _where_it_is(self) -> tuple[FrameRow, ...]:
        """Lines of the submission that it was at when its time was over; none where it does not say."""
        if not _CAN_ASK:
            return ()
        until = time.monotonic() + _LAST_WORDS_S

        def patience() -> float:
            if time.monotonic() >= until:
                raise TimeoutError
            return _SHORTEST_WAIT_S

        self.life.signal(signal.SIGUSR1)
        try:
            raised = Reply.read(self.channel.receive(patience).tree).raised
        except (ChannelClosed, ProtocolFault, TimeoutError):  # what it is in cannot be interrupted, or was replaced
            return ()
        return raised.frames if raised is not None else ()

    def patience(self, seconds: float, what: str) -> Patience:
        """CPU time decides; wall time is a loose multiple of it, so that a busy machine ends nothing."""
        started, before = time.monotonic(), None

        def wait() -> float:
            nonlocal before
            if time.monotonic() < started + _UNWATCHED_S:
                return _UNWATCHED_S
            before = before or (self.cpu_s(), self.waited_s())
            cpu_before, waited_before = before
            # From outside, on our clock: student code could replace any clock that it is asked to read.
            used = self.cpu_s()
            cpu_left = math.inf if used is None or cpu_before is None else seconds - (used - cpu_before)
            # Sleep takes no CPU time, so wall time must end it. Where it merely waited for a core, that is left out.
            waited_now = self.waited_s()
            waited = 0.0 if waited_before is None or waited_now is None else waited_now - waited_before
            wall_left = seconds * self.limits.wall_factor - (time.monotonic() - started - waited)
            if cpu_left <= 0 or wall_left <= 0:
                text = say("{} did not finish in {} seconds", what, Limit(f"{seconds:g}"))
                raise WorkerLost(Verdict.TIMED_OUT, text)
            if self.printed() > self.limits.output_kb * 1024:
                raise self._flooded(what)
            return max(_SHORTEST_WAIT_S, min(cpu_left, wall_left, LONGEST_WAIT_S))

        return wait

    def _flooded(self, what: str) -> WorkerLost:
        text = say("{} printed more than {} MB", what, Limit(f"{self.limits.output_kb / 1024:g}"))
        return WorkerLost(Verdict.OVER_LIMIT, text)

    def _died(self, what: str) -> WorkerLost:
        # The order matters. A flood of output or a lack of memory may end a process in many ways, with any status;
        # those are asked for first, as they say more than a signal does.
        code = self.life.exit_code()
        if self.printed() > self.limits.output_kb * 1024:
            return self._flooded(what)
        if self.life.ran_out_of_memory() or code == _NO_MEMORY:
            text = say("{} used more than {} MB of memory", what, Limit(self.limits.memory_mb))
            return WorkerLost(Verdict.OVER_LIMIT, text)
        if code is None:
            return WorkerLost(Verdict.CRASHED, say("{} closed the connection to the grader", what))
        if code >= 0:
            text = say("{} ended Python before it answered", what)
            return WorkerLost(Verdict.CRASHED, text, f"exit status {code}")
        name = _signal_name(-code)
        if name == "SIGXFSZ":
            text = say("{} wrote more than {} MB into a file", what, Limit(self.limits.file_mb))
            return WorkerLost(Verdict.OVER_LIMIT, text)
        # The kernel's soft and hard limit on CPU time are equal, and at the hard one it sends SIGKILL.
        if name == "SIGXCPU" or (name == "SIGKILL" and self._used_its_cpu()):
            return WorkerLost(Verdict.TIMED_OUT, say("{} used up the CPU time of the whole exercise", what))
        return WorkerLost(Verdict.CRASHED, say("{} crashed Python itself", what), name)

    def cpu_s(self) -> float | None:
        """CPU seconds used so far, read from outside; None where that cannot be read."""
        used = clock.cpu_s(self.life.pid)
        if used is not None:
            self._last_look = time.monotonic(), used
        return used

    def stop(self) -> None:
        """Keep it from running, whatever it is doing. It notices only by the time that passes."""
        if not _CAN_STOP:
            return
        self.life.signal(signal.SIGSTOP)
        # One thread hands the signal on. While that one waits for a core, others could go on.
        until = time.monotonic() + _STOP_S
        while clock.others_run(self.life.pid) and time.monotonic() < until:
            time.sleep(_SHORTEST_WAIT_S / 10)

    def go_on(self) -> None:
        """Let it run again."""
        if _CAN_STOP:
            self.life.signal(signal.SIGCONT)

    def other_threads_ns(self) -> tuple[int, int] | None:
        """CPU nanoseconds of all its threads but the first lie between these; None where that cannot be read."""
        return clock.other_threads_ns(self.life.pid)

    def threads(self) -> int | None:
        """How many threads it has now; None where that is not told."""
        return clock.threads(self.life.pid)

    def waited_s(self) -> float | None:
        """Seconds that it was ready to run and had no core; None where that is not told."""
        return clock.waited_s(self.life.pid)

    def disturbances(self) -> clock.Disturbances | None:
        """What may have made it slow so far, read from outside; None where that cannot be read."""
        return clock.disturbances(self.life.pid)

    def resident(self) -> tuple[int, int] | None:
        """Bytes of memory that it has now, and the most that it ever had; None where that cannot be read."""
        return clock.resident(self.life.pid)

    def _used_its_cpu(self) -> bool:
        # Its clock is gone with it. Whoever reaped it was told; else the last look counts, and what may have come.
        used = self.life.cpu_at_end()
        if used is None and self._last_look is not None:
            when, used = self._last_look
            used += (time.monotonic() - when) * (os.cpu_count() or 1)
        return used is not None and used >= math.ceil(self.limits.exercise_s) - 1

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
        # Not before it is gone: `sweep` wants a folder in which nothing changes.
        self.life.when_gone(self._remove_places)

    def _remove_places(self) -> None:
        sweep(str(self.folder))
        self.output.unlink(missing_ok=True)


class Starter(Protocol):
    """One way to start workers.

    Attributes:
        make_room: ends a worker that is kept for later, and tells whether there was one; set by whoever keeps them.
        students: those in which submissions run just now; kept by their sittings.
    """

    make_room: Callable[[], bool]
    students: set[Worker]

    def start_worker(self, limits: Limits, *, spared: bool = False, simulates: bool = False) -> Worker:
        """A worker with nothing loaded; one that is spared outlives an exercise that takes too long."""

    def close(self) -> None:
        """End what was kept ready."""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
