"""What a check says about speed: a ratio to another solution, measured side by side. Never seconds.

Both sides run in fresh, equal workers with one thread, in turns, on the same new inputs, under a clock of ours
(`timed`); every result is compared. `ratio` decides. What it cannot decide in time is `inconclusive`: the host runs
such a check again when the machine is quiet. Where the CPU clock of another process cannot be read (macOS, Windows),
the ratio is told as advice and nothing is decided.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from grader.check.compare import CheckFailed, same_values
from grader.check.ratio import Lap, Ratio, decide, hopeless_s, is_hopeless
from grader.check.student import RemoteFunction
from grader.check.timed import Inputs, TimedSide, Timing
from grader.check.workers import WorkerLost
from grader.model import Verdict

BUDGET_S = 20.0
"""Wall seconds after which no further pair of workers is begun."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_MOST_DOUBLINGS = 5
_WARM_LAPS = 2
_IDLE_LAPS = 3
_SHORTEST_STOP_S = 0.5

NewInputs = Callable[[int], tuple[Any, ...]]


class Inconclusive(Exception):
    """The machine is too busy to judge speed."""


def as_fast_as(
    function: RemoteFunction,
    reference: RemoteFunction,
    inputs: NewInputs,
    *,
    size: int,
    at_most: float,
    in_place: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> Ratio:
    """The function takes at most so many times the CPU time of the reference.

    Args:
        function: the student's.
        reference: the reference's function of the same task.
        inputs: makes new arguments of a size; all that is to be secret until the clock runs lies in tensors or arrays.
        size: for `inputs`; doubled where the reference is too fast for the clock. A tenth of it is the warm-up.
        at_most: the largest ratio that passes; far from both the right answers and the wrong ones.
        in_place: whether the arguments are compared afterwards too.
        rtol: relative tolerance for the results, as for `same_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: it takes longer, or a timed result is wrong.
        Inconclusive: the machine is too busy to tell.
    """
    trial = _Trial(function, reference, inputs, size, at_most, in_place, rtol, atol)
    found = trial.decide()
    span = f"between {_number(found.low)} and {_number(found.high)}"
    told = f"{_times(found.value)} as long as the reference ({span}); at most {at_most:g} is asked"
    _note(function, found, "the reference", told)
    trial.advise_only(told)
    if found.below is None:
        raise Inconclusive(
            f"the machine is too busy to tell whether `{function}` is at most {at_most:g} times slower than the "
            f"reference: {span} was seen"
        )
    if not found.below:
        more = "more than " if found.at_least else ""
        head = f"`{function}` is {more}{_times(found.value)} slower than the reference; at most {at_most:g} is asked"
        raise _too_slow(function, head, found, span)
    return found


def faster_than(
    function: RemoteFunction,
    slow: RemoteFunction,
    inputs: NewInputs,
    *,
    size: int,
    at_least: float,
    named: str = "the loop you were given",
    in_place: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> Ratio:
    """The function is at least so many times faster than a slow one, such as the starter's loop.

    Args:
        function: the student's.
        slow: a function in the reference's file that does it slowly.
        inputs: makes new arguments of a size.
        size: for `inputs`; small enough for the slow one.
        at_least: the smallest ratio that passes.
        named: the slow one's name in messages.
        in_place: whether the arguments are compared afterwards too.
        rtol: relative tolerance for the results, as for `same_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: it is not that much faster, or a timed result is wrong.
        Inconclusive: the machine is too busy to tell.
    """
    trial = _Trial(function, slow, inputs, size, 1 / at_least, in_place, rtol, atol)
    found = trial.decide()
    span = f"between {_number(1 / found.high)} and {_number(1 / found.low)}"
    told = f"{_times(1 / found.value)} as fast as {named} ({span}); at least {at_least:g} is asked"
    _note(function, found, named, told)
    trial.advise_only(told)
    if found.below is None:
        raise Inconclusive(
            f"the machine is too busy to tell whether `{function}` is at least {at_least:g} times as fast as {named}: "
            f"{span} was seen"
        )
    if not found.below:
        head = f"`{function}` is only {_times(1 / found.value)} as fast as {named}; at least {at_least:g} is asked"
        raise _too_slow(function, head, found, span)
    return found


@dataclass
class _Trial:
    """One comparison, in as many pairs of workers as it takes."""

    function: RemoteFunction
    other: RemoteFunction
    inputs: NewInputs
    size: int
    limit: float
    in_place: bool
    rtol: float | None
    atol: float | None
    sized: bool = False
    cpu_clock: bool = True

    def decide(self) -> Ratio:
        """Take laps until the ratio is known, or the time is over."""
        until = time.monotonic() + BUDGET_S
        return decide(self.limit, self._laps, lambda: time.monotonic() > until or not self.cpu_clock)

    def advise_only(self, told: str) -> None:
        """End the check without a verdict where there is no clock to judge by."""
        if not self.cpu_clock:
            pytest.skip(
                "speed is judged where the CPU clock of another process can be read, which is not so here; "
                f"by the clock on the wall: {told}"
            )

    def _laps(self) -> Iterator[Lap]:
        """Laps from a fresh pair of workers. A warm-up lap is given only where it is hopeless already."""
        with _Sides(self) as sides:
            self.cpu_clock = sides.have_cpu_clock()
            for _ in range(_WARM_LAPS):
                lap = sides.lap(max(1, self.size // 10))
            if is_hopeless(lap, self.limit):
                yield lap
                while not lap.stopped:
                    lap = sides.lap(max(1, self.size // 10))
                    yield lap
                return
            sides.stops = True
            lap = self._sized(sides)
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
            self.size *= 1 if self.sized else 2
        self.sized = True
        return lap


class _Sides:
    """Both sides of a trial in fresh workers. Close it.

    Attributes:
        stops: whether a call of the judged side that is hopeless is stopped early.
    """

    def __init__(self, trial: _Trial) -> None:
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
        theirs = self._call_other(inputs) if self._turn % 2 else None
        stop_s = self._stop_s()
        mine = self._call_mine(inputs, stop_s)
        theirs = theirs or self._call_other(inputs)
        self._mine.settle()
        self._other.settle()
        self._other_s = theirs.cpu_s
        if mine is None:
            return Lap(stop_s, theirs.cpu_s, stopped=True)
        same_values(mine.result, theirs.result, "the result of a timed call", rtol=trial.rtol, atol=trial.atol)
        nothing = self._call_other(Inputs((*args, theirs.result), in_place=trial.in_place), idle=True) if idle else None
        self._other.settle()
        return Lap(
            mine.cpu_s, theirs.cpu_s, mine.away_s, theirs.away_s, idle=None if nothing is None else nothing.cpu_s
        )

    def _stop_s(self) -> float:
        limit = self._trial.function.party.sitting.limits.call_s
        return min(limit, max(_SHORTEST_STOP_S, hopeless_s(self._other_s, self._trial.limit))) if self.stops else limit

    def _call_mine(self, inputs: Inputs, seconds: float) -> Timing | None:
        """None if it was stopped. Any other loss is the check's verdict."""
        try:
            return self._mine.call(inputs, seconds)
        except WorkerLost as lost:
            if lost.verdict is Verdict.TIMED_OUT and not lost.in_load:
                return None
            raise

    def _call_other(self, inputs: Inputs, *, idle: bool = False) -> Timing:
        try:
            return self._other.call(inputs, idle=idle)
        except WorkerLost as lost:
            raise RuntimeError(f"the other side of a comparison was lost: {lost.message}") from None


def _note(function: RemoteFunction, found: Ratio, against: str, told: str) -> None:
    """Take down what was found, for the report."""
    row = {
        "told": told,
        "against": against,
        "ratio": _rounded(found.value),
        "low": _rounded(found.low),
        "high": None if math.isinf(found.high) else _rounded(found.high),
        "at_most": _rounded(found.limit),
        "yours_ms": _rounded(1000 * found.mine_s),
        "theirs_ms": _rounded(1000 * found.other_s),
        "calls": found.laps,
        "pairs": found.pairs,
    }
    function.party.speed.append(row)


def _too_slow(function: RemoteFunction, head: str, found: Ratio, span: str) -> CheckFailed:
    if found.waits:
        head = f"`{function}` sleeps, or works in other processes, for longer than it may take"
    return CheckFailed(
        head,
        f"{head}\na call of yours takes {_number(1000 * found.mine_s)} ms of CPU time, of the other "
        f"{_number(1000 * found.other_s)} ms; the ratio lies {span} ({found.laps} calls in {found.pairs} pairs of "
        "fresh processes)",
    )


def _times(ratio: float) -> str:
    text = _number(ratio)
    return f"{text} time{'' if text == '1' else 's'}"


def _number(value: float) -> str:
    """Three digits, and no more than can be believed: 1,590, 71, 7.1, 0.71."""
    if math.isinf(value):
        return "any number of"
    rounded = _rounded(value)
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if value >= 100 else float(f"{value:.2g}")
