"""What a check says about memory, against the reference: as it is counted, and as it is seen from outside.

The count of new storages (`counts`) is exact, and a claim. The most memory that a worker's process ever had is rough,
and nothing that it says: it is read from outside, in fresh workers, where the system tells it (Linux).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import torch

from grader.check.costs import report
from grader.check.counts import count
from grader.check.kinds import require
from grader.check.values import same_values
from grader.model.endings import CheckFailed
from grader.model.public import Limit, say
from grader.remote.handle import Handle
from grader.remote.pair import NewInputs
from grader.remote.timing import Inputs, TimedSide
from grader.remote.witness import witnessed

# Seen from outside, a process grows for many reasons. The limit lies well above them, and well below a copy of large
# arguments.
_SLACK = 4 << 20
_SLACK_SHARE = 8
_SMALL = 1024
_SEEN = 1 << 20
_FIRST_CALLS, _MORE_CALLS = 2, 8


def as_lean_as(
    function: Handle,
    reference: Handle,
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
        size: for `inputs`; what is seen from outside is worth something from 16 MB of arguments on.
        at_most: the largest ratio that passes.
        rtol: relative tolerance for the results, as for `same_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: it needs more, by its own count or as seen from outside; or its result is wrong.
    """
    args = inputs(size)
    mine, theirs = count(function, *args), count(reference, *args)
    report(function, "peak", mine.peak)
    same_values(mine.result, theirs.result, rtol=rtol, atol=atol)
    public = say("`{}` needs more than {} times the memory of the reference", function, Limit(f"{at_most:g}"))
    if theirs.peak == 0:
        # Any multiple of nothing is nothing, so the limit as such would be no help in a message.
        public = say("`{}` makes new memory; the reference makes none", function)
    story = f"{public}\nyours {mine.peak:,} bytes at the peak, the reference {theirs.peak:,}"
    require(mine.peak <= at_most * theirs.peak + _SMALL, public, story)
    _look_from_outside(function, reference, args, inputs(max(1, size // 10)), at_most)


def releases(function: Handle, *args: Any) -> None:
    """When the result is dropped, neither the arguments' memory nor any new memory is kept.

    From 1 MB of arguments on, several calls are also looked at from outside.

    Raises:
        CheckFailed: something is kept.
    """
    answer = witnessed(function, "kept", [list(args), {}], args, {}).answer
    require(type(answer) is int and answer >= 0, say("what `{}` keeps could not be counted", function))
    public = say("`{}` keeps memory that nobody needs any more", function)
    require(answer == 0, public, f"{public}: {answer:,} bytes")
    # The count sees storages of PyTorch's. Numbers that are kept in a list or a NumPy array show in the process alone,
    # and only where they are many.
    if (each := _bytes(args)) >= _SEEN:
        with closing(TimedSide(function)) as side:
            # The first calls grow the heap for good, also where nothing is kept.
            for _ in range(_FIRST_CALLS):
                side.call(Inputs(args))
            before = side.resident()
            for _ in range(_MORE_CALLS):
                side.call(Inputs(args))
            after = side.resident()
        grown = after[0] - before[0] if before is not None and after is not None else 0
        # Half of what keeping every argument would come to: a heap is untidy, but not by so much.
        require(grown < each * _MORE_CALLS // 2, public, f"{public}: {grown >> 20} MB in {_MORE_CALLS} calls")


def _look_from_outside(
    function: Handle,
    reference: Handle,
    args: tuple[Any, ...],
    few: tuple[Any, ...],
    at_most: float,
) -> None:
    """Compare the growth of three fresh workers: one calls the function, one the reference, one nothing."""
    mine, result = _growth(function, args, few)
    theirs, _ = _growth(reference, args, few)
    # What sending the arguments and the result takes is measured by a call that does nothing, and left out.
    idle, _ = _growth(reference, (*args, result), few, idle=True)
    # A system that does not tell: the count, which has passed already, is all there is.
    if mine is None or theirs is None or idle is None:
        return
    results, arguments = _bytes(result), _bytes(args)
    asked = at_most * max(theirs - idle + results, 0) + _SLACK + arguments // _SLACK_SHARE
    found = mine - idle + results
    if found > asked:
        public = say("`{}` needs much more memory than the reference, seen from outside of Python", function)
        raise CheckFailed(public, f"{public}\nyours {found >> 20} MB, at most {int(asked) >> 20} MB is asked")


def _growth(
    function: Handle, args: tuple[Any, ...], few: tuple[Any, ...], *, idle: bool = False
) -> tuple[int | None, Any]:
    """By how many bytes a fresh worker grows at the most in one call, and the result. A small call comes first."""
    with closing(TimedSide(function)) as side:
        # What a process makes for its first call is no need of the function's.
        side.call(Inputs(few))
        before = side.resident()
        result = side.call(Inputs(args), idle=idle).result
        after = side.resident()
    return (None if before is None or after is None else after[1] - before[0]), result


def _bytes(values: Any) -> int:
    return sum(int(leaf.nbytes) for leaf in _leaves(values))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
