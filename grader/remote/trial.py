"""One comparison of two functions by CPU time, in as many pairs of fresh workers as it takes.

Both sides run in equal workers with one thread, in turns, on the same new inputs, under a clock of ours (`timing`);
every result is compared. `ratio` decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.remote.ratio import Lap, Ratio, decide, hopeless_s, is_hopeless
from grader.remote.student import RemoteFunction
from grader.remote.timing import Inputs, TimedSide, Timing

BUDGET_S = 20.0
"""Wall seconds after which no further pair of workers is begun."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_MOST_DOUBLINGS = 5
_WARM_LAPS = 2
_IDLE_LAPS = 3
_SHORTEST_STOP_S = 0.5

NewInputs = Callable[[int], tuple[Any, ...]]


@dataclass
class Trial:
    """One comparison, in as many pairs of workers as it takes.

    Attributes:
        function: the one that is judged.
        other: the one that it is compared with.
        inputs: makes new arguments of a size.
        size: for `inputs`; doubled where the other is too fast for the clock. A tenth of it is the warm-up.
        limit: the largest ratio of the times that passes.
        same_results: raises where two results of a lap differ.
        in_place: whether the arguments are compared afterwards too.
        cpu_clock: whether CPU time could be read; without, nothing is decided.
    """

    function: RemoteFunction
    other: RemoteFunction
    inputs: NewInputs
    size: int
    limit: float
    same_results: Callable[[Any, Any], None]
    in_place: bool = False
    sized: bool = False
    cpu_clock: bool = True

    def decide(self) -> Ratio:
        """Take laps until the ratio is known, or the time is over."""
        until = time.monotonic() + BUDGET_S
        return decide(self.limit, self._laps, lambda: time.monotonic() > until or not self.cpu_clock)

    def _laps(self) -> Iterator[Lap]:
        """Laps from a fresh pair of workers. Warm-up laps are left out, except where one is hopeless already."""
        with _Sides(self) as sides:
            self.cpu_clock = sides.have_cpu_clock()
            # The first calls in a process import late, fill caches and grow the heap. They are small, so that a loop
            # that takes minutes at full size is found out here.
            for _ in range(_WARM_LAPS):
                lap = sides.lap(max(1, self.size // 10))
            if is_hopeless(lap, self.limit):
                # A verdict that fails is to be told with a number near the truth, so `ratio` asks for a few laps even
                # here.
                yield lap
                while not lap.stopped:
                    lap = sides.lap(max(1, self.size // 10))
                    yield lap
                return
            # From here on the other side's time is known, and with it when waiting longer cannot change the verdict.
            sides.stops = True
            lap = self._sized(sides)
            # A lap in full size warms up as well and is not counted, except where the call was stopped: there will be
            # no other.
            count = 0
            while not lap.stopped:
                count += 1
                lap = sides.lap(self.size, idle=count <= _IDLE_LAPS)
                yield lap
            if not count:
                yield lap

    def _sized(self, sides: _Sides) -> Lap:
        """Warm up in full size, which is found in the first pair: large enough for the clock."""
        for _ in range(1 if self.sized else _MOST_DOUBLINGS):
            lap = sides.lap(self.size)
            if lap.stopped or min(1.0, self.limit) * (lap.other - (lap.idle or 0.0)) >= _LEAST_S:
                break
            # Later pairs keep the size that the first one found, so that all laps measure the same work.
            self.size *= 1 if self.sized else 2
        self.sized = True
        return lap


class _Sides:
    """Both sides of a trial in fresh workers. Close it.

    Attributes:
        stops: whether a call of the judged side that is hopeless is stopped early.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._mine, self._other = TimedSide(trial.function), TimedSide(trial.other)
        self._turn = 0
        self._other_s = 0.0
        self.stops = False

    def __enter__(self) -> _Sides:
        return self

    def __exit__(self, *_: object) -> None:
        self._mine.close()
        self._other.close()

    def have_cpu_clock(self) -> bool:
        """Whether CPU time can be read; otherwise times are those of the clock on the wall."""
        return self._mine.has_cpu_clock() and self._other.has_cpu_clock()

    def lap(self, size: int, *, idle: bool = True) -> Lap:
        """Call each side once with the same new arguments, in turns first; compare what comes back.

        Args:
            size: for the arguments.
            idle: also measure a call that does nothing.

        Raises:
            CheckFailed: the results differ.
        """
        trial = self._trial
        args = trial.inputs(size)
        inputs = Inputs(args, in_place=trial.in_place)
        self._turn += 1
        # In turns, so that neither side always finds the caches as the other left them.
        theirs = self._call_other(inputs) if self._turn % 2 else None
        stop_s = self._stop_s()
        mine = self._call_mine(inputs, stop_s)
        theirs = theirs or self._call_other(inputs)
        # While one side was called, the other could go on working after its reply. That counts for it.
        self._mine.add_late_work()
        self._other.add_late_work()
        self._other_s = theirs.cpu_s
        if mine is None:
            return Lap(stop_s, theirs.cpu_s, stopped=True)
        # Every lap: an answer that is right in the first call and made up in later ones is fast, too.
        trial.same_results(mine.result, theirs.result)
        # The call that does nothing takes the same arguments and gives back the same result, which is sent along.
        nothing = self._call_other(Inputs((*args, theirs.result), in_place=trial.in_place), idle=True) if idle else None
        self._other.add_late_work()
        return Lap(
            mine.cpu_s, theirs.cpu_s, mine.away_s, theirs.away_s, idle=None if nothing is None else nothing.cpu_s
        )

    def _stop_s(self) -> float:
        limit = self._trial.function.side.sitting.limits.call_s
        return min(limit, max(_SHORTEST_STOP_S, hopeless_s(self._other_s, self._trial.limit))) if self.stops else limit

    def _call_mine(self, inputs: Inputs, seconds: float) -> Timing | None:
        """None if it was stopped. Any other loss is the check's verdict."""
        try:
            return self._mine.call(inputs, seconds)
        except WorkerLost as lost:
            # A submission that does not load in time has not been timed: that is a loss like any other.
            if lost.verdict is Verdict.TIMED_OUT and not lost.in_load:
                return None
            raise

    def _call_other(self, inputs: Inputs, *, idle: bool = False) -> Timing:
        try:
            return self._other.call(inputs, idle=idle)
        # Anything but a loss of the student's: the check is broken, and nobody loses a point for our own solution.
        except WorkerLost as lost:
            raise RuntimeError(f"the other side of a comparison was lost: {lost.message}") from None
