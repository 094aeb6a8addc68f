"""The process of one worker as the check process sees it: sent to, read from, watched from outside, ended, and lost."""

from __future__ import annotations

import math
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.public_text import Limit, say
from grader.sandbox import clock
from grader.sandbox.fork_messages import Ended
from grader.sandbox.process import remove_folder
from grader.sandbox.view import WORK
from grader.wire.frames import Channel, Frame, ProtocolError, TooMuch
from grader.wire.transport import ChannelClosed, Patience, patience_until
from grader.worker_process.waiting import Waiting

GRACE_S = 2.0
_LONGEST_WAIT_S = 1.0
_SHORTEST_WAIT_S = 0.002
_UNWATCHED_S = 0.02
"""Most calls are over by then, and no clock was read for them."""
_STOP_S = 2.0
_HAS_SIGNALS = hasattr(signal, "SIGSTOP")  # Windows has neither this one nor SIGUSR1
_LAST_WORDS_S = 0.3
_LOSSES_OF_ONE = 2
_LOSSES_OF_ALL = 4
NO_MEMORY = 71
"""Exit status of a worker that has no memory left for a request."""


@dataclass(eq=False)
class WorkerProcess:
    """One process in which student code runs. Close it. How it is ended differs between the two ways to start one.

    Attributes:
        pid: the process, in the numbering of our own process namespace.
        waiting: counts the time for which it is waited for.
        printed_by_then: bytes of output when they were last looked at, as each reply has them looked at.
    """

    channel: Channel
    pid: int
    folder: Path
    output: Path
    limits: Limits
    _: KW_ONLY
    waiting: Waiting = field(default_factory=Waiting)

    def __post_init__(self) -> None:
        self.printed_by_then = 0
        self._number = 0
        self._last_look: tuple[float, float] | None = None
        self._waited = 0.0
        self._printed = self.output.open("rb")  # from the start: a file can be made slow to open

    def kill(self) -> None:
        """Kill the worker with everything that it started."""

    def signal(self, number: int) -> None:
        """Send the process a signal, if it still exists; processes that it started get none."""

    def await_end(self) -> Ended | None:
        """Wait a moment for the worker to end, and return how it ended.

        None if the worker has not ended.

        Raises:
            WorkerLost: the worker ended with the worker server, which is our fault.
        """

    def reset_peak(self) -> None:
        """Reset the peak of the worker's resident memory, if the system allows that."""
        clock.reset_peak(self.pid)

    def ran_out_of_memory(self) -> bool:
        """Return whether the kernel killed the worker, or a process of it, for lack of memory."""
        return False

    def remove_files_when_gone(self) -> None:
        """Remove the worker's folder and output, now or as soon as the worker is gone."""

    def ask(
        self,
        tree: dict[str, Any],
        data: Sequence[Any],
        seconds: float,
        what: str,
        mapped: tuple[int, int] | None = None,
    ) -> Frame:
        """Send a request, wait for its reply, and return the reply.

        Args:
            tree: the tree of the request.
            data: the memory blocks of the request.
            seconds: the CPU seconds that the worker may take.
            what: the name of the call in messages, such as "your `total`".
            mapped: memory that the worker maps in place of `data`: its descriptor, and its size in bytes.

        Raises:
            WorkerLost: there will be no reply.
            Unsupported: the request is larger than a message may be.
        """
        patience = self._patience(seconds, what)
        self._number += 1
        try:
            self.channel.send(self._number, tree, data, patience, mapped)
            frame = self.channel.receive(patience)
            # Each request has one reply. One sent ahead would be read as the reply to the next request.
            if frame.number != self._number:
                raise ProtocolError("a reply to another request")
        except WorkerLost as lost:
            if lost.verdict is Verdict.TIMED_OUT:
                lost.stack = self._interrupted_stack()
            raise
        except ChannelClosed:
            raise self._await_loss(what) from None
        except TooMuch as error:
            text = say("{} returned more data than a check can receive", what)
            raise WorkerLost(Verdict.OVER_LIMIT, text, error) from None
        except ProtocolError as error:
            raise WorkerLost(Verdict.CRASHED, say("{} broke the connection to the grader", what), error) from None
        self._refuse_flood(what)  # a call that printed much and answered between two looks is found here
        return frame

    def _interrupted_stack(self) -> Any:
        """Interrupt student code whose time is over, and return where it was.

        A message can then name the line. The result is the worker's description of the exception `TimeIsOver`, with the
        lines of its traceback; None if the worker sends none.
        """
        if not _HAS_SIGNALS:
            return None
        self.signal(signal.SIGUSR1)
        try:
            return self.channel.receive(patience_until(time.monotonic() + _LAST_WORDS_S)).tree.get("error")
        except (ChannelClosed, ProtocolError, TimeoutError):  # its code cannot be interrupted, or replaced the handler
            return None

    def _patience(self, seconds: float, what: str) -> Patience:
        """Return a function that limits how long a reply is waited for.

        Each call of that function returns the seconds to wait next. It raises `WorkerLost` once the time is over, or if
        the worker has printed too much. The worker may use `seconds` of CPU time, and of wall time a multiple of that,
        since the machine may be busy. `what` is the name of the call in messages.
        """
        started = time.monotonic()
        before: tuple[float, float] | None = None

        def wait() -> float:
            """Return the seconds to wait next; raise `WorkerLost` if the time is over."""
            nonlocal before
            if time.monotonic() < started + _UNWATCHED_S:
                return _UNWATCHED_S
            # From outside, on our clock: student code could replace any clock in its own process. A clock that cannot
            # be read stands still.
            used, waited = self.cpu_s() or 0.0, self.runnable_wait_s() or 0.0
            before = before or (used, waited)
            cpu_left = seconds - (used - before[0])
            # Sleep takes no CPU time, so wall time must end it. Where it merely waited for a core, that is left out.
            wall_left = seconds * self.limits.wall_factor - (time.monotonic() - started - (waited - before[1]))
            if cpu_left <= 0 or wall_left <= 0:
                text = say("{} did not finish in {} seconds", what, Limit(f"{seconds:g}"))
                raise WorkerLost(Verdict.TIMED_OUT, text)
            self._refuse_flood(what)
            return max(_SHORTEST_WAIT_S, min(cpu_left, wall_left, _LONGEST_WAIT_S))

        return wait

    def _refuse_flood(self, what: str) -> None:
        if self.printed_bytes() > self.limits.output_kb * 1024:
            text = say("{} printed more than {} MB", what, Limit(f"{self.limits.output_kb / 1024:g}"))
            raise WorkerLost(Verdict.OVER_LIMIT, text)

    def _await_loss(self, what: str) -> WorkerLost:
        """Wait a moment for a lost worker to end, and return an error that says why it ended.

        Its text is, for example, "your `total` used more than 512 MB of memory". For too much output, the error is
        raised instead.
        """
        # The order matters. A flood of output or a lack of memory may end a process in many ways, with any status;
        # those are examined first, because they say more than a signal does.
        ended = self.await_end()
        self._refuse_flood(what)
        over, limits = partial(WorkerLost, Verdict.OVER_LIMIT), self.limits
        crashed = partial(WorkerLost, Verdict.CRASHED)
        if self.ran_out_of_memory() or (ended is not None and ended.status == NO_MEMORY):
            return over(say("{} used more than {} MB of memory", what, Limit(limits.memory_mb)))
        if ended is None:
            return crashed(say("{} closed the connection to the grader", what))
        if ended.status >= 0:
            return crashed(say("{} ended Python before it returned", what), f"exit status {ended.status}")
        number = -ended.status
        name = next((each.name for each in signal.Signals if each == number), f"signal {number}")
        if name == "SIGXFSZ":
            return over(say("{} wrote more than {} MB into a file", what, Limit(limits.file_mb)))
        # The kernel's soft and hard limit on CPU time are equal, and at the hard one it sends SIGKILL.
        if name == "SIGXCPU" or (name == "SIGKILL" and self._used_its_cpu(ended)):
            return WorkerLost(Verdict.TIMED_OUT, say("{} used up the CPU time of the whole exercise", what))
        return crashed(say("{} crashed Python itself", what), name)

    def cpu_s(self) -> float | None:
        """Return the CPU seconds that the worker has used; None if they cannot be read.

        They are read from outside of the worker, and kept for `last_clocks`.
        """
        used = clock.cpu_s(self.pid)
        if used is not None:
            self._last_look = time.monotonic(), used
        return used

    def pause(self) -> None:
        """Stop the worker by SIGSTOP until `resume` is called.

        Student code can notice this only by the time that has passed. Windows has no such signal: there, do nothing.
        """
        if not _HAS_SIGNALS:
            return
        self.signal(signal.SIGSTOP)
        # One thread hands the signal on. While that one waits for a core, others could go on.
        latest = time.monotonic() + _STOP_S
        while clock.other_threads_run(self.pid) and time.monotonic() < latest:
            time.sleep(_SHORTEST_WAIT_S / 10)

    def resume(self) -> None:
        """Let a paused worker run again."""
        if _HAS_SIGNALS:
            self.signal(signal.SIGCONT)

    def runnable_wait_s(self) -> float | None:
        """Return the seconds for which the worker had no core; None if they are not known.

        They are counted over its whole life, while the worker was ready to run. The seconds since the last call are
        also added to `waiting.no_core_s`.
        """
        if (waited := clock.runnable_wait_s(self.pid)) is not None:
            self.waiting.no_core_s = (self.waiting.no_core_s or 0.0) + waited - self._waited
            self._waited = waited
        return waited

    def last_clocks(self) -> tuple[float, float, float] | None:
        """Return the last readings of the worker's clocks, which are needed once it is gone.

        They are the time of the last call of `cpu_s`, what it returned, and what the last call of `runnable_wait_s`
        returned; None before the first reading.
        """
        return None if self._last_look is None else (*self._last_look, self._waited)

    def _used_its_cpu(self, ended: Ended) -> bool:
        # Its clock is gone with it. The process that reaped it knows; else the last reading counts, and time since.
        used = ended.cpu_s
        if used is None and self._last_look is not None:
            when, used = self._last_look
            used += (time.monotonic() - when) * (os.cpu_count() or 1)
        return used is not None and used >= math.ceil(self.limits.exercise_s) - 1

    def printed_bytes(self) -> int:
        """Return how many bytes the worker has printed so far.

        The number is also kept in `printed_by_then`.
        """
        if not self._printed.closed:
            self.printed_by_then = os.fstat(self._printed.fileno()).st_size
        return self.printed_by_then

    def read_output(self, limit: int) -> tuple[str, int]:
        """Return the beginning of what student code printed, and how many lines follow.

        The beginning has at most `limit` bytes. If more follows, it ends with a whole line, where it has one. Paths in
        the worker's folder are shortened.
        """
        self._printed.seek(0)
        first, more = self._printed.read(limit), 0
        if rest := self._printed.read(self.limits.output_kb * 1024):
            whole, newline, begun = first.rpartition(b"\n")
            first, begun = (whole, begun) if newline else (first, b"")
            more = (begun + rest).removesuffix(b"\n").count(b"\n") + 1
        text = first.decode("utf-8", "backslashreplace")
        # Files by the names that the student knows, as a warning names one: where the worker saw them, or we do.
        for folder in (WORK, str(self.folder), os.path.realpath(self.folder)):
            text = text.replace(folder + os.sep, "")
        return text, more

    def close(self) -> None:
        """Kill the worker, and have its folder removed as soon as it is gone."""
        self.kill()
        self.channel.close()
        self._printed.close()
        self.remove_files_when_gone()

    def remove_files(self) -> None:
        """Remove the worker's folder and output.

        Call this after the worker's end, when nothing changes the folder any more.
        """
        remove_folder(str(self.folder))
        self.output.unlink(missing_ok=True)


class Losses:
    """The losses of workers by one connection, and the calls that are not made again because of them.

    A function that cost two workers, or timed out once, is not called again: checks that call it get that verdict.
    After two lost loads, one timeout of a load, or four lost workers in all, no worker is started any more. One loss
    may be chance, such as a crash by a race. A timeout is not chance, because CPU time decides it.

    Attributes:
        given_up: the requests that are not made again, each with the error.
        final: the error for all further requests, if no worker is started any more; else None.
    """

    def __init__(self) -> None:
        self.given_up: dict[str, WorkerLost] = {}
        self.final: WorkerLost | None = None
        self._counts: Counter[str] = Counter()

    def record(self, lost: WorkerLost, what: str, *, full_time: bool) -> None:
        """Count the loss of a worker; after too many losses, give up requests.

        See the class for when this request is given up, and when all requests are.

        Args:
            lost: the exception that says how the worker was lost.
            what: the name of the request in which the worker was lost.
            full_time: True if the request had the usual time limit, and not a shorter one.
        """
        self._counts[what] += 1
        timed_out = lost.verdict is Verdict.TIMED_OUT
        if self._counts[what] >= _LOSSES_OF_ONE or (timed_out and full_time and not lost.in_load):
            self.given_up[what] = lost
        # Each check loads anew after a loss. A load that timed out would do so for every one of them.
        if self._counts.total() >= _LOSSES_OF_ALL or (lost.in_load and (timed_out or what in self.given_up)):
            self.final = lost
