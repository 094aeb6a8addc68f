"""What a check says about speed: a ratio to another solution, measured side by side.

Nobody fails under way: a function that seems too slow is compared once more when the rest is done, and only what is
found then counts. What cannot be decided in time is `inconclusive` and goes the same road. Where the CPU clock of
another process cannot be read (macOS, Windows), the ratio is told as advice and nothing is decided.
"""

from __future__ import annotations

import math
from typing import Any

from grader.check.values import number, same_values
from grader.model import Speed
from grader.model.endings import CannotRun, CheckFailed, Inconclusive
from grader.model.public import Limit, Public, say
from grader.remote.handle import Handle, side_of, what_of, word_of
from grader.remote.pair import Comparison, NewInputs
from grader.remote.ratio import Ratio
from grader.remote.trial import Trial

_GIVEN = say("the loop you were given")


def as_fast_as(
    function: Handle,
    reference: Handle,
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
        Inconclusive: the machine is too busy to tell, or it seems so while other things go on.
    """
    trial = _trial(function, reference, inputs, size, at_most, in_place, rtol, atol)
    found = trial.decide()
    span = f"between {_number(found.low)} and {_number(found.high)}"
    told = f"{_times(found.value)} as long as the reference ({span}); at most {at_most:g} is asked"
    # Noted before anything is decided: the report tells the ratio, whether it passed or not.
    _note(function, found, "the reference", told)
    _advise_only(trial, told)
    asked = function, Limit(f"{at_most:g}"), say("the reference")
    # No verdict is better than a wrong one: the host repeats the check when the machine is quiet.
    if found.below is None:
        busy = say("the machine is too busy to tell whether `{}` is at most {} times slower than {}", *asked)
        raise Inconclusive(busy, f"{busy}: {span} was seen")
    if not found.below:
        more = "more than " if found.at_least else ""
        found_times = f"{more}{_times(found.value)} slower than the reference"
        head = f"`{word_of(function)}` is {found_times}; at most {at_most:g} is asked"
        public = say("`{}` is too slow: at most {} times as long as {} is asked", *asked)
        raise _too_slow(function, public, head, found, span, final=trial.final)
    return found


def faster_than(
    function: Handle,
    slow: Handle,
    inputs: NewInputs,
    *,
    size: int,
    at_least: float,
    named: str = _GIVEN,
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
        Inconclusive: the machine is too busy to tell, or it seems so while other things go on.
    """
    # One comparison serves both: so many times as fast is a limit below 1 on the same ratio.
    trial = _trial(function, slow, inputs, size, 1 / at_least, in_place, rtol, atol)
    found = trial.decide()
    span = f"between {_number(1 / found.high)} and {_number(1 / found.low)}"
    told = f"{_times(1 / found.value)} as fast as {named} ({span}); at least {at_least:g} is asked"
    _note(function, found, named, told)
    _advise_only(trial, told)
    asked = function, Limit(f"{at_least:g}"), named
    if found.below is None:
        busy = say("the machine is too busy to tell whether `{}` is at least {} times as fast as {}", *asked)
        raise Inconclusive(busy, f"{busy}: {span} was seen")
    if not found.below:
        found_times = f"only {_times(1 / found.value)} as fast as {named}"
        head = f"`{word_of(function)}` is {found_times}; at least {at_least:g} is asked"
        public = say("`{}` is too slow: at least {} times as fast as {} is asked", *asked)
        raise _too_slow(function, public, head, found, span, final=trial.final)
    return found


def _trial(
    function: Handle,
    other: Handle,
    inputs: NewInputs,
    size: int,
    limit: float,
    in_place: bool,
    rtol: float | None,
    atol: float | None,
) -> Trial:
    def same_results(mine: Any, theirs: Any) -> None:
        # Each timed result is compared, as a fast function may be a wrong one.
        what = say("the result of a timed call")
        # Of one number, kind and shape are for checks of their own.
        if math.prod(getattr(theirs, "shape", (0,))) == 1:
            mine, theirs = number(mine, what), number(theirs)
        same_values(mine, theirs, what, rtol=rtol, atol=atol)

    side_of(function).sitting.refuse(what_of(function))  # endless for small inputs: it is not slow but wrong
    comparison = Comparison(function, other, inputs, limit, same_results, in_place)
    return Trial(comparison, size, final=not side_of(function).provisional)


def _advise_only(trial: Trial, told: str) -> None:
    """End the check without a verdict where there is no clock to judge by."""
    if not trial.cpu_clock:
        no_clock = say("speed is judged where the CPU clock of another process can be read, which is not so here")
        raise CannotRun(no_clock, f"{no_clock}; by the clock on the wall: {told}")


def _note(function: Handle, found: Ratio, against: str, told: str) -> None:
    """Take down what was found, for the report."""
    side_of(function).speed.append(
        Speed(
            told=told,
            against=against,
            ratio=_rounded(found.value),
            low=_rounded(found.low),
            high=None if math.isinf(found.high) else _rounded(found.high),
            at_most=_rounded(found.limit),
            yours_ms=_rounded(1000 * found.mine_s),
            theirs_ms=_rounded(1000 * found.other_s),
            calls=found.laps,
            pairs=found.pairs,
        )
    )


def _too_slow(function: Handle, public: Public, head: str, found: Ratio, span: str, *, final: bool) -> Exception:
    # By CPU time alone sleep is free; a function that sleeps is told so, as its milliseconds would look fine.
    if found.waits:
        head = public = say("`{}` sleeps, or works in other processes, for longer than it may take", function)
    if not final:
        seems = say("{}; that was seen while other things went on, and is to be confirmed", public)
        return Inconclusive(seems, f"{head}; that is to be confirmed")
    return CheckFailed(
        public,
        f"{head}\na call of yours takes {_number(1000 * found.mine_s)} ms of CPU time, of the other "
        f"{_number(1000 * found.other_s)} ms; the ratio lies {span} ({found.laps} laps in {found.pairs} pairs of "
        "fresh processes)",
    )


def _times(ratio: float) -> str:
    text = _number(ratio)
    return f"{text} time{'' if text == '1' else 's'}"


def _number(value: float) -> str:
    """Three digits, and no more than can be believed: 1,590, 71, 7.1, 0.71."""
    if math.isinf(value):
        return "any number of"
    # A measurement with six digits would be taken for one.
    rounded = _rounded(value)
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if value >= 100 else float(f"{value:.2g}")
