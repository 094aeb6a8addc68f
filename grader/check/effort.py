"""Whether the CPU time of a call, as seen from outside, bears its count of operations out.

A loop that both hooks are kept from seeing takes its time all the same: some microseconds for each element. The
reference's call on the same arguments tells what the work takes on this machine now. All of it is CPU time, and each
doubt is looked into in fresh workers, where the least counts: a busy machine adds to a time, and takes nothing away.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np
import torch

from grader.check.counts import Counts, count
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.remote.handle import Handle, side_of, word_of
from grader.remote.side import Counting, Side
from grader.remote.student import RemoteFunction
from grader.wire.handles import origin_of

_MUCH = 5
"""So many times what the reference's call takes, with the counting: whatever route an answer takes, it takes less."""

_OPERATION = 1 / 50
"""What counting one operation takes at most, of what counting a call takes that does nothing."""

_LEAST_LOOP = 1 / 2
"""Of the shortest loop of operations over the elements: what is quicker hides none."""

_CLEARLY = 1 / 2
"""Of the time explained: a call that takes no more needs no further worker."""

_WORKERS = 3
_LOOPS, _TURNS = 8, 250
_WAY_BYTES = 1 << 20
_CALLS, _FEW_CALLS = 3, 2


def borne_out(function: Handle, small: tuple[Any, ...], large: tuple[Any, ...], counts: Counts) -> None:
    """The operations that a call is said to run explain its CPU time.

    Args:
        function: a function of the student's.
        small: arguments to warm up with.
        large: arguments of the call that was counted.
        counts: what was counted.

    Raises:
        CheckFailed: it takes far more.
    """
    reference = side_of(function).reference
    if counts.cpu_s is None or reference is None or word_of(function) not in reference.names():
        return
    if origin_of(function).name is None:  # an object of a class of that name
        return
    with _unheard(side_of(function)), _unheard(reference):
        _judge(function, reference, small, large, counts.ops.total(), counts.cpu_s)


def _judge(
    function: Handle, reference: Side, small: tuple[Any, ...], large: tuple[Any, ...], operations: int, cpu_s: float
) -> None:
    nothing_s = _nothing_s(reference)
    counting_s = _OPERATION * nothing_s * operations
    if cpu_s <= _MUCH * nothing_s + counting_s:
        return
    # Of a call with much memory most is the way there and back.
    if cpu_s <= _CLEARLY * (_MUCH * _way_s(reference, large) + counting_s):
        return
    theirs = RemoteFunction(reference, word_of(function))
    known_s = _MUCH * _least_s(theirs, large, _FEW_CALLS) + counting_s
    if cpu_s <= _CLEARLY * known_s:
        return
    # A student's own process could remember what it was asked. In a fresh one all of the work is to be done again.
    told_s = explained_s = float("inf")
    for _ in range(_WORKERS):
        found = _again(function, theirs, small, large, nothing_s)
        told_s, explained_s = min(told_s, found[0]), min(explained_s, found[1])
        if told_s <= _CLEARLY * explained_s:
            return
    if told_s <= explained_s:
        return
    public = say("`{}` takes far more time for a large input than its operations explain: a loop in Python", function)
    raise CheckFailed(
        public,
        f"{public}\nit takes {told_s * 1e3:.3g} ms of CPU time, its {operations} operations explain "
        f"{explained_s * 1e3:.3g} ms",
    )


@contextmanager
def _unheard(side: Side) -> Iterator[None]:
    """Meanwhile the check's inputs do not go on: how often is asked hangs on times, and on authors before this one."""
    heard = side.leave
    # A worker learns no input of these calls that it was not given before. That they take time is told as ever.
    side.leave = heard and (lambda _: heard(False))
    try:
        yield
    finally:
        side.leave = heard


def _again(
    function: Handle,
    theirs: Handle,
    small: tuple[Any, ...],
    large: tuple[Any, ...],
    nothing_s: float,
) -> tuple[float, float]:
    """CPU seconds of the large call in a fresh worker, and those that its operations and the work explain."""
    side = side_of(function).fresh()
    side.copying = True
    with closing(side.sitting):
        mine = RemoteFunction(side, word_of(function))
        count(mine, *small)
        found = count(mine, *large)
    work = max(_MUCH * _least_s(theirs, large, _CALLS), _LEAST_LOOP * _loop_s() * _elements(large))
    return found.cpu_s or 0.0, work + _OPERATION * nothing_s * found.ops.total()


def _least_s(theirs: Handle, large: tuple[Any, ...], times: int) -> float:
    """CPU seconds of a counted call: more than one, as one may have been disturbed, which would explain anything."""
    return min(count(theirs, *large).cpu_s or 0.0 for _ in range(times))


def _nothing_s(reference: Side) -> float:
    """CPU seconds that counting takes, by a call that does nothing: once for each worker of the reference's."""
    life = reference.sitting.lives
    if reference.counting is None or reference.counting.life != life:
        reference.counting = Counting(life, _least_s(_nothing(reference), (0,), _CALLS))
    return reference.counting.nothing_s


def _way_s(reference: Side, args: tuple[Any, ...]) -> float:
    """CPU seconds that counting a call with these arguments takes that does nothing: less than the reference's takes.

    By their memory, and what a tensor takes on its way: measured once for each worker of the reference's.
    """
    nothing_s = _nothing_s(reference)
    assert reference.counting is not None
    if reference.counting.byte_s is None:
        large = torch.zeros(_WAY_BYTES, dtype=torch.uint8)
        took_s = _least_s(_nothing(reference), (large,), _CALLS)
        reference.counting.byte_s = max(0.0, took_s - nothing_s) / _WAY_BYTES
    return nothing_s + reference.counting.byte_s * _bytes(args)


def _nothing(reference: Side) -> RemoteFunction:
    return RemoteFunction(reference, "last", "probe:")


def _loop_s() -> float:
    """CPU seconds of one turn of the shortest loop of operations, on this machine and now.

    The least of several loops: where a virtual machine stands still for some ms, its clock of CPU time goes on, and one
    loop so disturbed would explain every other.
    """
    return min(_one_loop_s() for _ in range(_LOOPS))


def _one_loop_s() -> float:
    total, values = torch.zeros(()), torch.zeros(_TURNS)
    started = time.thread_time()
    for value in values:
        total += value
    return (time.thread_time() - started) / _TURNS


def _bytes(value: Any) -> int:
    """Bytes of the tensors and arrays that a call is given: no more than travel."""
    if isinstance(value, torch.Tensor):
        return min(value.nbytes, value.untyped_storage().nbytes())
    if isinstance(value, np.ndarray):
        return value.nbytes if value.base is None else 0
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 0


def _elements(value: Any) -> int:
    """How many elements a loop could run over."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        return _elements([*value, *value.values()])
    return sum(map(_elements, value)) if isinstance(value, (list, tuple, set)) else 1
