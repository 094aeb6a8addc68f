"""Both sides of a comparison in fresh workers, and a lap of theirs: in turns, on the same new inputs.

A side whose calls are short makes several in a lap, each on inputs of its own, so that a lap measures some milliseconds
of its work: else one cold cache would be the longest part of it. The side whose calls are longer makes fewer, on some
of the same inputs, and those results are compared. Which inputs these are is drawn by us, so that whoever makes up a
part of the results is found out.

A lap that other programs or the first use of memory dominated is known as such by what the system tells of the workers:
how often each was put off its core, and how many pages it met that were not there. Of the latter, the fewest that any
of its laps had are the function's own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.remote.budget import Budget
from grader.remote.handle import Handle, side_of
from grader.remote.laps import Lap, hopeless_s
from grader.remote.timing import Inputs, TimedSide, Timing
from grader.wire.bounds import WireError
from grader.wire.incoming import copies

_LAP_S = 0.002
"""A lap makes so many calls of a side that they take about this much CPU time, beyond asking and answering."""

_MOST_CALLS = 32
"""More would not help the shortest, and each of them costs us more than a short call itself, to make and compare."""

_MOST_WEIGHT = 8 << 20
"""What is sent to a worker or comes from it at once, in bytes; one call alone may be more."""

_MOST_AWAY_S = 0.1
"""A function that sleeps is not called more often than sleeps for so long, as to find out takes no more."""

_PREEMPTION_S, _FAULT_S = 2e-4, 1e-6
"""What one of them costs, roughly: caches that another program has filled, and a page that is made."""

_DOMINATED = 0.25
"""A lap is disturbed where these cost more than this share of either side's time."""

_SHORTEST_STOP_S = 0.5


NewInputs = Callable[[int], tuple[Any, ...]]


@dataclass(frozen=True)
class Comparison:
    """What is compared, and how.

    Attributes:
        function: the one that is judged.
        other: the one that it is compared with.
        inputs: makes new arguments of a size.
        limit: the largest ratio of the times that passes.
        same_results: raises where two results of a lap differ.
        in_place: whether the arguments are compared afterwards too.
    """

    function: Handle
    other: Handle
    inputs: NewInputs
    limit: float
    same_results: Callable[[Any, Any], None]
    in_place: bool = False


class Calls(NamedTuple):
    """How many calls of each side are timed together in a lap."""

    mine: int
    other: int


ONE = Calls(1, 1)


class Pair:
    """Both sides of a trial in fresh workers. Close it.

    Attributes:
        stops: whether a call of the judged side that is hopeless is stopped early.
    """

    def __init__(self, comparison: Comparison, budget: Budget) -> None:
        self._comparison = comparison
        self._budget = budget
        self._mine, self._other = TimedSide(comparison.function), TimedSide(comparison.other)
        self._turn = 0
        self._other_s = 0.0
        self._weight = 0
        self._left_out_s = 0.0
        self._own_faults: dict[tuple[bool, int, int], int] = {}
        self.stops = False

    def __enter__(self) -> Pair:
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
        args, whole = self._arguments(size, max(calls))
        # Whoever makes fewer calls is given some of the arguments, and nobody can know which.
        picked = [sorted(random.SystemRandom().sample(range(len(args)), count)) for count in calls]
        mine_in, other_in = (
            whole if len(places) == len(args) else self._inputs([args[place] for place in places]) for places in picked
        )
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
                self._comparison.same_results(found[place], result)
        self._weight = max(mine_in.weight // calls.mine, mine.weight // calls.mine, theirs.weight // calls.other)
        idles = self._idle(args, theirs.results, calls) if idle else (None, None)
        disturbed = [
            self._is_disturbed(timing, (side, size, count))
            for timing, side, count in ((mine, True, calls.mine), (theirs, False, calls.other))
        ]
        return Lap(
            mine.cpu_s / calls.mine,
            self._other_s,
            mine.away_s / calls.mine,
            theirs.away_s / calls.other,
            idle=idles[0],
            other_idle=idles[1],
            disturbed=any(disturbed),
        )

    def calls_for(self, lap: Lap, now: Calls) -> Calls:
        """How many calls of each side make a lap that is long enough, as one lap tells; never fewer than now."""
        most = max(1, min(_MOST_CALLS, _MOST_WEIGHT // max(1, self._weight)))
        idle = lap.idle or 0.0
        # Stopped is what takes much longer than the limit, and the limit of one call holds for all of them together.
        stop_s = hopeless_s(lap.other, self._comparison.limit)
        most_mine = min(most, self._call_s() / max(stop_s, 1e-9))
        most_mine = min(most_mine, _MOST_AWAY_S / max(lap.mine_away, 1e-9))
        return Calls(_count(lap.mine - idle, now.mine, most_mine), _count(lap.other_net(), now.other, most))

    def _arguments(self, size: int, count: int) -> tuple[list[tuple[Any, ...]], Inputs]:
        new = [self._comparison.inputs(size) for _ in range(count)]
        whole = self._inputs(new)
        if count == 1 or whole.apart:
            return new, whole
        # A check may give the same tensor every time. What one call writes into it is nothing that the next may see.
        try:
            new = [copies(*args) for args in new]
        except WireError:
            return new, whole
        return new, self._inputs(new)

    def _inputs(self, calls: Sequence[tuple[Any, ...]]) -> Inputs:
        return Inputs(*calls, in_place=self._comparison.in_place)

    def _is_disturbed(self, timing: Timing, work: tuple[bool, int, int]) -> bool:
        """Whether something else than its own work took a good part of the time.

        Args:
            timing: of the calls.
            work: which side's, of which size, and how many calls: its own faults are the fewest that were seen of them.
        """
        seen = timing.disturbances
        if seen is None:
            return False
        own = self._own_faults[work] = min(seen.faults, self._own_faults.get(work, seen.faults))
        return _PREEMPTION_S * seen.preemptions + _FAULT_S * (seen.faults - own) > _DOMINATED * timing.cpu_s

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
        if not self.stops:
            return self._call_s()
        hopeless = calls * hopeless_s(self._other_s, self._comparison.limit)
        return min(self._call_s(), max(_SHORTEST_STOP_S, hopeless))

    def _call_s(self) -> float:
        return side_of(self._comparison.function).sitting.limits.call_s

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
        self._budget.leave_out(now - self._left_out_s)
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
