"""What a check says about memory, against the reference: as it is counted, and as it is seen from outside.

The count of new storages (`counts`) is exact and untrusted: it explains. The memory that a worker's process has is
rough, and nothing that the worker says: it is read from outside, in fresh workers, where the system shows it (Linux).
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from grader.check.costs import report
from grader.check.counts import count
from grader.check.kinds import require
from grader.check.values import agrees
from grader.connection.connection import Proxy
from grader.connection.measurement import NewInputs
from grader.connection.timing import Inputs, TimedWorker
from grader.model.endings import CheckFailed
from grader.model.public import Limit, say
from grader.sandbox import clock
from grader.wire.decode import copies

_CALL_SLACK = 8 << 20
"""Bytes by which one call may grow a process beyond the limit: the same call varies by 3 MB, rarely by 8."""

_LIFE_SLACK = 48 << 20
"""Bytes by which it may be larger than the reference's process ever was: a right answer may load 38 MB of PyTorch."""

_SMALL = 1024
_TINY = 8
"""A size of which checks on values have inputs, too."""


def as_lean_as(
    function: Proxy,
    reference: Proxy,
    inputs: NewInputs,
    *,
    size: int,
    at_most: float,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """The call needs at most so many times the new memory of the reference, at its peak.

    Args:
        function: the student's.
        reference: the reference's function of the same task.
        inputs: makes new arguments of a size.
        size: for `inputs`; so large that what must not be made takes 30 MB or more.
        at_most: the largest ratio that passes.
        rtol: relative tolerance for the results, as for `same_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: it needs more, by its own count or as seen from outside; or its result is wrong.
    """
    tiny, few = inputs(max(1, min(_TINY, size // 100))), inputs(max(1, size // 10))
    is_right = agrees(function(*copies(*tiny)), reference(*tiny), rtol=rtol, atol=atol)
    mine, theirs = count(function, *copies(*few)), count(reference, *copies(*few))
    report(function, "peak", mine.peak)
    public = say("`{}` needs more than {} times the memory of the reference", function, Limit(f"{at_most:g}"))
    if theirs.peak == 0:
        # A multiple of nothing is nothing, so the limit would be no help in a message.
        public = say("`{}` makes new memory; the reference makes none", function)
    story = f"{public}\nyours {mine.peak:,} bytes at the peak, the reference {theirs.peak:,}"
    require(mine.peak <= at_most * theirs.peak + _SMALL, public, story)
    result, right = _look_from_outside(function, reference, inputs(size), inputs(max(1, size // 100)), at_most)
    # Otherwise an answer could skip the work where it is large. One that is wrong for tiny arguments loses elsewhere.
    same = agrees(result, right, rtol=rtol, atol=atol) and agrees(mine.result, theirs.result, rtol=rtol, atol=atol)
    if is_right and not same:
        raise CheckFailed(say("the result of `{}` for a large input is wrong", function), about="values")


def _look_from_outside(
    function: Proxy, reference: Proxy, args: tuple[Any, ...], few: tuple[Any, ...], limit: float
) -> tuple[Any, Any]:
    """Compare how two fresh workers grow by the same large call. Gives both results, if they are known."""
    theirs, mine = _growth(reference, args, few), _growth(function, args, few)
    # A system that does not show it: the count, which has passed already, is all there is.
    if mine is None or theirs is None:
        return None, None
    (before, after, result), (their_before, their_after, right) = mine, theirs
    most = limit * (their_after.peak - their_before.resident)
    mapped = their_after.mapped_peak - their_before.mapped
    grown = {
        "by the call": (after.peak - before.resident, most + _CALL_SLACK),
        # What was made when the file was loaded counts, too, and memory that nothing was written to.
        "since it was loaded": (after.peak - their_before.resident, most + _LIFE_SLACK),
        "in all": (after.mapped_peak - their_before.mapped, mapped + most + _LIFE_SLACK),
    }
    for when, (found, allowed) in grown.items():
        if found > allowed:
            public = say("`{}` needs much more memory than the reference", function)
            numbers = f"its process grows by {found >> 20} MB {when}, at most {int(allowed) >> 20} MB are expected"
            raise CheckFailed(public, f"{public}\n{numbers}", about="memory")
    return result, right


def _growth(
    function: Proxy, args: tuple[Any, ...], few: tuple[Any, ...]
) -> tuple[clock.Memory, clock.Memory, Any] | None:
    """The memory of a fresh worker before and after one call, and its result. A small call comes first."""
    with closing(TimedWorker(function)) as worker:
        # What a process makes for its first call is no need of the function's.
        worker.call(Inputs(few))
        return worker.grow(Inputs(args))
