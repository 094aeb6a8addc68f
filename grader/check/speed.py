"""What a check says about speed: a ratio to another solution, measured side by side.

Nobody fails under way: a function that seems too slow is compared once more when the rest is done, and only what is
found then counts; but one that sleeps for seconds fails at once. What cannot be decided in time is `inconclusive` and
goes the same road. Where the CPU clock of another process cannot be read (macOS, Windows), the ratio is told as advice
and nothing is decided.
"""

from __future__ import annotations

import math
from typing import Any

from grader.check.values import number, same_values
from grader.connection.measurement import Measurement
from grader.connection.paired_run import Comparison, NewInputs
from grader.connection.proxy import Proxy, connection_of, what_of, word_of
from grader.connection.ratio import Ratio
from grader.model import Speed
from grader.model.endings import CannotRun, CheckFailed, Inconclusive
from grader.model.public import Limit, Public, say

_REFERENCE = say("the reference")


def as_fast_as(
    function: Proxy,
    other: Proxy,
    inputs: NewInputs,
    *,
    size: int,
    at_most: float,
    named: str = _REFERENCE,
    in_place: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> Ratio:
    """The function takes at most so many times the CPU time of another.

    Args:
        function: the student's.
        other: the reference's function of the same task; or one in its file that does it slowly, such as the starter's
            loop, with a limit below 1.
        inputs: makes new arguments of a size; all that is to be secret until the clock runs lies in tensors or arrays.
        size: for `inputs`; doubled where the other is too fast for the clock. A tenth of it is the warm-up.
        at_most: the largest ratio that passes; far from both the right answers and the wrong ones.
        named: the other's name in messages.
        in_place: whether the arguments are compared afterwards too.
        rtol: relative tolerance for the results, as for `same_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: it takes longer, or a timed result is wrong.
        Inconclusive: the machine is too busy to tell, or it seems so while other things go on.
    """

    def same_results(mine: Any, theirs: Any) -> None:
        # Each timed result is compared, as a fast function may be a wrong one.
        what = say("the result of a timed call")
        # Of one number, kind and shape are for checks of their own.
        if math.prod(getattr(theirs, "shape", (0,))) == 1:
            mine, theirs = number(mine, what), number(theirs)
        same_values(mine, theirs, what, rtol=rtol, atol=atol)

    connection = connection_of(function)
    connection.refuse(what_of(function))  # endless for small inputs: it is not slow but wrong
    final = not connection.record.unconfirmed
    measurement = Measurement(Comparison(function, other, inputs, at_most, same_results, in_place), size, final=final)
    found = measurement.decide()
    limit = _limit(at_most, named)
    span = "between " + " and ".join(_times(each, at_most).partition(" time")[0] for each in (found.low, found.high))
    told = f"{_times(found.value, at_most)} {named} ({span}); {limit} is asked"
    # Noted before anything is decided: the report has the ratio, whether it passed or not.
    connection.record.speed.append(_speed(found, named, told))
    if not measurement.cpu_clock:
        no_clock = say("speed is judged where the CPU clock of another process can be read, which is not so here")
        raise CannotRun(no_clock, f"{no_clock}; by the clock on the wall: {told}")
    # No verdict is better than a wrong one: the host repeats the check when the machine is quiet.
    if found.below is None:
        busy = say("the machine is too busy to tell whether `{}` takes {}", function, limit)
        raise Inconclusive(busy, f"{busy}: {span} was seen")
    if found.below:
        return found
    # Nobody waits for a core in sleep, so it is the same when nothing else runs. Other processes may wait for one.
    final = final or (found.sleeps and connection.limits.processes == 1)
    raise _too_slow(function, found, limit, at_most, named, f"{span}; {found.samples} samples", final=final)


def _too_slow(
    function: Proxy, found: Ratio, limit: Public, at_most: float, named: str, seen: str, *, final: bool
) -> CheckFailed | Inconclusive:
    public, head = say("`{}` is too slow: {} is asked", function, limit), ""
    if found.waits:
        # By CPU time alone sleep is free; a function that sleeps reads that, as its milliseconds would look fine.
        public = say("`{}` sleeps, or works in other processes, for longer than it may take", function)
    else:
        more = "more than " if found.at_least else ""
        head = f"`{word_of(function)}` takes {more}{_times(found.value, at_most)} {named}; {limit} is asked"
    if not final:
        seems = say("{}; that was seen while other things went on, and is to be confirmed", public)
        return Inconclusive(seems, f"{head or public}; that is to be confirmed")
    return CheckFailed(
        public,
        f"{head or public}\na call of yours takes {_number(1000 * found.mine_s)} ms of CPU time, of the other "
        f"{_number(1000 * found.other_s)} ms ({seen}, {found.pairs} pairs of fresh processes)",
    )


def _limit(at_most: float, named: str) -> Public:
    """The limit in words: as a multiple of a time, or of a speed."""
    if at_most >= 1:
        return say("at most {} times as long as {}", Limit(f"{at_most:g}"), named)
    return say("at least {} times as fast as {}", Limit(f"{1 / at_most:g}"), named)


def _speed(found: Ratio, against: str, told: str) -> Speed:
    """What was measured, for the report."""
    return Speed(
        told=told,
        against=against,
        ratio=_rounded(found.value),
        low=_rounded(found.low),
        high=None if math.isinf(found.high) else _rounded(found.high),
        at_most=_rounded(found.limit),
        yours_ms=_rounded(1000 * found.mine_s),
        theirs_ms=_rounded(1000 * found.other_s),
        calls=found.samples,
        pairs=found.pairs,
    )


def _times(ratio: float, at_most: float) -> str:
    """A ratio in words, of times or of speeds as its limit is."""
    text = _number(ratio if at_most >= 1 else 1 / max(ratio, 1e-9))
    return f"{text} time{'' if text == '1' else 's'} as {'long' if at_most >= 1 else 'fast'} as"


def _number(value: float) -> str:
    """Three digits, and no more than can be believed: 1,590, 71, 7.1, 0.71."""
    if math.isinf(value):
        return "any number of"
    # A measurement with six digits would be taken for one.
    rounded = _rounded(value)
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if value >= 100 else float(f"{value:.2g}")
