"""One comparison of two functions by CPU time, in as many pairs of fresh workers as it takes.

Both sides run in equal workers with one thread, in turns, on the same new inputs, under a clock of ours (`timing`);
results are compared in every lap. `ratio` decides.

A side whose calls are short makes several in a lap, each on inputs of its own, so that a lap measures some milliseconds
of its work: else one cold cache would be the longest part of it. The side whose calls are longer makes fewer, on some
of the same inputs, and those results are compared. Which inputs these are is drawn by us, so that whoever makes up a
part of the results is found out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.remote.budget import Budget
from grader.remote.ratio import Lap, Ratio, decide, hopeless_s, is_hopeless
from grader.remote.student import RemoteFunction
from grader.remote.timing import Inputs, TimedSide, Timing
from grader.wire.bounds import WireError
from grader.wire.incoming import copies

BUDGET_S = 20.0
"""Wall seconds after which no further pair of workers is begun; see `Budget` for what is left out."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_LAP_S = 0.002
"""A lap makes so many calls of a side that they take about this much CPU time, beyond asking and answering."""

_MOST_CALLS = 32
"""More would not help the shortest, and each of them costs us more than a short call itself, to make and compare."""

_MOST_WEIGHT = 8 << 20
"""What is sent to a worker or comes from it at once, in bytes; one call alone may be more."""

_MOST_AWAY_S = 0.1
"""A function that sleeps is not called more often than sleeps for so long, as to find out takes no more."""

_MOST_COUNTINGS = 3
_MOST_DOUBLINGS = 5
_WARM_LAPS = 2
_IDLE_LAPS = 3
_SHORTEST_STOP_S = 0.5

NewInputs = Callable[[int], tuple[Any, ...]]


class Calls(NamedTuple):
    """How many calls of each side are timed together in a lap."""

    mine: int
    other: int


ONE = Calls(1, 1)


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
        sized: whether `size` and `calls` are found.
        calls: how many of each side make a lap in full size.
        cpu_clock: whether CPU time could be read; without, nothing is decided.
        budget: of the time for all of it.
    """

    function: RemoteFunction
    other: RemoteFunction
    inputs: NewInputs
    size: int
    limit: float
    same_results: Callable[[Any, Any], None]
    in_place: bool = False
    sized: bool = False
    calls: Calls = ONE
    cpu_clock: bool = True
    budget: Budget = field(default_factory=lambda: Budget(BUDGET_S))

    def decide(self) -> Ratio:
        """Take laps until the ratio is known, or the time is over."""
        return decide(self.limit, self._laps, lambda: self.budget.is_over() or not self.cpu_clock)

    def _laps(self) -> Iterator[Lap]:
        """Laps from a fresh pair of workers. Warm-up laps are left out, except where one is hopeless already."""
        with _Sides(self) as sides:
            self.cpu_clock = sides.have_cpu_clock()
            # The first calls in a process import late, fill caches and grow the heap. They are small, so that a loop
            # that takes minutes at full size is found out here.
            for _ in range(_WARM_LAPS):
                lap = sides.lap(max(1, self.size // 10))
            # Twice, as one lap may have been disturbed; and at a tenth of the size what any call costs weighs more.
            if is_hopeless(lap, self.limit) and not lap.stopped:
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
                lap = sides.lap(self.size, self.calls, idle=count <= _IDLE_LAPS)
                yield lap
            if not count:
                yield lap

    def _sized(self, sides: _Sides) -> Lap:
        """Warm up in full size, which is found in the first pair: large enough for the clock."""
        # Later pairs keep what the first one found, so that all laps measure the same work.
        if self.sized:
            return sides.lap(self.size, self.calls)
        for _ in range(_MOST_DOUBLINGS):
            lap = sides.lap(self.size)
            if lap.stopped or min(1.0, self.limit) * lap.other_net() >= _LEAST_S:
                break
            self.size *= 2
        for _ in range(_MOST_COUNTINGS):
            # By the less of two laps, as what was disturbed looks longer than it is, and long enough for one call.
            first, lap = lap, lap if lap.stopped else sides.lap(self.size, self.calls)
            if lap.stopped:
                break
            calls = sides.calls_for(first.least(lap), self.calls)
            if calls == self.calls:
                break
            self.calls = calls
            lap = sides.lap(self.size, calls)
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
        self._weight = 0
        self._left_out_s = 0.0
        self.stops = False

    def __enter__(self) -> _Sides:
        return self

    def __exit__(self, *_: object) -> None:
        self._mine.close()
        self._other.close()

    def have_cpu_clock(self) -> bool:
        """Whether CPU time can be read; otherwise times are those of the clock on the wall."""
        return self._mine.has_cpu_clock() and self._other.has_cpu_clock()

    def lap(self, size: int, calls: Calls = ONE, *, idle: bool = True) -> Lap:
        """Call both sides with the same new arguments, in turns first; compare what comes back.

        Args:
            size: for the arguments.
            calls: how many of each side.
            idle: also measure calls that do nothing.

        Raises:
            CheckFailed: the results differ.
        """
        trial = self._trial
        args = self._arguments(size, max(calls))
        # Whoever makes fewer calls is given some of the arguments, and nobody can know which.
        picked = [sorted(random.SystemRandom().sample(range(len(args)), count)) for count in calls]
        mine_in, other_in = (self._inputs([args[place] for place in places]) for places in picked)
        self._turn += 1
        # In turns, so that neither side always finds the caches as the other left them.
        theirs = self._call_other(other_in) if self._turn % 2 else None
        stop_s = self._stop_s(calls.mine)
        mine = self._call_mine(mine_in, stop_s)
        theirs = theirs or self._call_other(other_in)
        # While one side was called, the other could go on working after its reply. That counts for it.
        self._mine.add_late_work()
        self._other.add_late_work()
        self._other_s = theirs.cpu_s / calls.other
        if mine is None:
            return Lap(stop_s / calls.mine, self._other_s, stopped=True)
        # Every lap: an answer that is right in the first call and made up in later ones is fast, too.
        found = dict(zip(picked[0], mine.results, strict=True))
        for place, result in zip(picked[1], theirs.results, strict=True):
            if place in found:
                trial.same_results(found[place], result)
        self._weight = max(mine_in.weight // calls.mine, mine.weight // calls.mine, theirs.weight // calls.other)
        idles = self._idle(args, theirs.results, calls) if idle else (None, None)
        return Lap(
            mine.cpu_s / calls.mine,
            self._other_s,
            mine.away_s / calls.mine,
            theirs.away_s / calls.other,
            idle=idles[0],
            other_idle=idles[1],
        )

    def calls_for(self, lap: Lap, now: Calls) -> Calls:
        """How many calls of each side make a lap that is long enough, as one lap tells; never fewer than now."""
        most = max(1, min(_MOST_CALLS, _MOST_WEIGHT // max(1, self._weight)))
        idle = lap.idle or 0.0
        # Stopped is what takes much longer than the limit, and the limit of one call holds for all of them together.
        stop_s = hopeless_s(lap.other, self._trial.limit)
        most_mine = min(most, self._trial.function.side.sitting.limits.call_s / max(stop_s, 1e-9))
        most_mine = min(most_mine, _MOST_AWAY_S / max(lap.mine_away, 1e-9))
        return Calls(_count(lap.mine - idle, now.mine, most_mine), _count(lap.other_net(), now.other, most))

    def _arguments(self, size: int, count: int) -> list[tuple[Any, ...]]:
        new = [self._trial.inputs(size) for _ in range(count)]
        if count == 1:
            return new
        # A check may give the same tensor every time. What one call writes into it is nothing that the next may see.
        try:
            return [copies(*args) for args in new]
        except WireError:
            return new

    def _inputs(self, calls: Sequence[tuple[Any, ...]]) -> Inputs:
        return Inputs(*calls, in_place=self._trial.in_place)

    def _idle(
        self, args: Sequence[tuple[Any, ...]], results: Sequence[Any], calls: Calls
    ) -> tuple[float, float | None]:
        """CPU seconds of a call that does nothing, for each side if they make different numbers of calls."""
        found = []
        # Such calls take the same arguments and give back the same results, which are sent along. What comes from the
        # judged side is not sent on: it may be anything.
        for count in dict.fromkeys(calls):
            both = [(*args[place], results[place % len(results)]) for place in range(count)]
            found.append(self._call_other(self._inputs(both), idle=True).cpu_s / count)
            self._other.add_late_work()
        return found[0], found[1] if len(found) > 1 else None

    def _stop_s(self, calls: int) -> float:
        """CPU seconds after which so many calls of the judged side are stopped."""
        limit = self._trial.function.side.sitting.limits.call_s
        if not self.stops:
            return limit
        return min(limit, max(_SHORTEST_STOP_S, calls * hopeless_s(self._other_s, self._trial.limit)))

    def _call_mine(self, inputs: Inputs, seconds: float) -> Timing | None:
        """None if it was stopped. Any other loss is the check's verdict."""
        try:
            return self._mine.call(inputs, seconds)
        except WorkerLost as lost:
            # A submission that does not load in time has not been timed: that is a loss like any other.
            if lost.verdict is Verdict.TIMED_OUT and not lost.in_load:
                return None
            raise
        finally:
            self._leave_out()

    def _leave_out(self) -> None:
        """Take from the budget what the machine is not to blame for, as far as that is new."""
        now = self._mine.left_out_s
        self._trial.budget.leave_out(now - self._left_out_s)
        self._left_out_s = now

    def _call_other(self, inputs: Inputs, *, idle: bool = False) -> Timing:
        try:
            return self._other.call(inputs, idle=idle)
        # Anything but a loss of the student's: the check is broken, and nobody loses a point for our own solution.
        except WorkerLost as lost:
            raise RuntimeError(f"the other side of a comparison was lost: {lost.message}") from None


def _count(each: float, now: int, most: float) -> int:
    """How many calls of so many seconds make a lap."""
    # A power of two: to learn that it is 37 calls and not 35 is not worth another lap.
    wanted = 1 << max(0, math.ceil(math.log2(_LAP_S / max(each, _LAP_S / _MOST_CALLS))))
    return max(now, min(wanted, math.floor(most)))
