"""What a call costs, by counts that do not depend on the machine: operators, memory, copies, waits, collectives.

The counts come from a probe that runs next to student code (`grader.worker.counting`), so they are untrusted and only
explain a result. The text of the submission decides about loops, and so does CPU time that is measured from outside: a
hidden loop costs time, too.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch

from grader.check import show
from grader.check.calls import assert_keeps_graph, report
from grader.check.hidden_code import assert_no_hidden_code
from grader.check.loops import rows_hint
from grader.check.properties import assert_true
from grader.check.values import allclose
from grader.connection.connection import Proxy, connection_of, is_proxy, proxy_of_name, shown_name, target_of
from grader.connection.student import call_builtin_probe
from grader.model.endings import CannotRun, CheckFailed
from grader.model.picture import Moment, Picture
from grader.model.public_text import Limit, Public, say
from grader.model.score import pluralize
from grader.wire.call import copy_values

_MOST = 1 << 53
ESCAPES = ("tolist", "numpy", "dlpack", "item", "float", "int", "complex", "storage", "data_ptr", "apply_", "map_")
_MOST_MOMENTS, _MOST_SHAPES = 12, 8
_LONGEST_NAME = 60
_TABLES = ("ops", "escapes", "collectives", "lines")
_NUMBERS = ("line_count", "bytes", "peak", "transfers", "transferred", "syncs", "sent", "versions", "moment_count")


@dataclass(frozen=True)
class Counts:
    """The costs of one call, as the worker says.

    Attributes:
        ops: operators that PyTorch dispatched, by name, with gradients off.
        escapes: the calls by which numbers left PyTorch: tolist, numpy, dlpack, item, float, int, complex, storage,
            data_ptr, apply_, map_.
        lines: lines of the student's files that ran most often, each with how often: "double.py, line 3" with 100.
        line_count: the number of runs of any lines of these files, and of calls of their functions.
        bytes: the size of all new storages together.
        peak: bytes of new storages that were alive at a time, after any operator.
        transfers: copies between devices.
        transferred: bytes copied between devices.
        syncs: the number of waits of the program for a device.
        collectives: the number of collectives, by name.
        sent: bytes handed to collectives.
        versions: in-place changes of the arguments.
        moments: the first moments of host and devices in virtual time, if an accelerator is simulated.
        moment_count: the number of all moments.
        result: the value that the call returned.
    """

    ops: Counter[str]
    escapes: Counter[str]
    lines: Counter[str]
    line_count: int
    bytes: int
    peak: int
    transfers: int
    transferred: int
    syncs: int
    collectives: Counter[str]
    sent: int
    versions: int
    moments: tuple[Moment, ...]
    moment_count: int
    result: Any

    def total(self, name: str) -> int:
        """Return one of the counts as an int; for counts by name, such as "ops", return their sum.

        If `ops` is `Counter(add=2, mul=1)`, `total("ops")` is 3.

        Args:
            name: the name of the count, such as "ops".
        """
        value = getattr(self, name)
        return value.total() if isinstance(value, Counter) else int(value)


def count_costs(function: Proxy, *args: Any, allow: Collection[str] = (), **kwargs: Any) -> Counts:
    """Count what one call costs: operators, bytes of memory, copies between devices, waits, collectives.

    Most checks need only `assert_costs_at_most`, which also adds the counts that it limits to the report.

    Args:
        function: a function of the student's.
        *args: its arguments.
        allow: words that the source may contain besides, as for `assert_no_hidden_code`.
        **kwargs: its arguments by name.

    Returns:
        The counts, which the worker sends and which are untrusted, with the result of the call. Memory is counted in
        bytes.

    Raises:
        CheckFailed: the source could hide what the code does, or the counts could not be read.
    """
    assert_no_hidden_code(function, allow)
    match call_builtin_probe(function, "count_costs", [list(args), kwargs], args, kwargs):
        case [result, dict() as reply]:
            counts = _decoded_counts(reply, result)
            if counts is not None:
                return counts
    raise CheckFailed(say("the costs of `{}` could not be counted", function))


def _decoded_counts(reply: dict[Any, Any], result: Any) -> Counts | None:
    """Return the counts in a worker's reply as `Counts`; None if the reply is malformed."""
    numbers: dict[str, Any] = {name: reply.get(name) for name in _NUMBERS}
    tables: dict[str, Any] = {name: decode_counts(reply.get(name)) for name in _TABLES}
    if None in tables.values() or not all(map(_is_count, numbers.values())):
        return None
    return Counts(**numbers, **tables, moments=tuple(moments_of(reply.get("moments"), _MOST_MOMENTS)), result=result)


def _is_count(number: object) -> bool:
    return type(number) is int and 0 <= number < _MOST  # `type` and not `isinstance`: True would pass for 1


def decode_counts(counts: Any) -> Counter[str] | None:
    """Return a worker's dict of counts by name as a `Counter`; None if it is malformed.

    Args:
        counts: the value that the worker sent, untrusted.
    """
    if not isinstance(counts, dict) or not all(map(_is_count, counts.values())):
        return None
    return Counter({str(name)[:_LONGEST_NAME]: number for name, number in counts.items()})


def moments_of(rows: Any, most: int) -> Iterator[Moment]:
    """Yield a `Moment` for each well-formed row that a worker sent.

    A moment is something that took virtual time on the host or a device; a timeline shows it. For a kernel of 2
    microseconds that makes a tensor of shape (3,), the row is:

        ["add", "sim:0", 0.0, 2e-06, 0, "", 12, [[3]]]

    Args:
        rows: the rows that the worker sent.
        most: the largest number of rows that are read.

    Yields:
        One moment for each row that is not malformed.
    """
    for row in rows[:most] if isinstance(rows, list) else []:
        match row:
            case [str(name), str(place), float(start), float(end), int(stream), str(unit), int(nbytes), list(shapes)]:
                if not 0 <= start <= end < math.inf or not _is_count(nbytes):
                    continue
                sizes = tuple(tuple(shape) for shape in shapes[:_MOST_SHAPES] if _is_shape(shape))
                name, place, unit = (text[:_LONGEST_NAME] for text in (name, place, unit))
                yield Moment(name, place, start, end, stream, unit, nbytes, sizes)


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


_TIMES_CPU, _SPARE_S = 12, 0.005
"""A call may take so many times the CPU time of the reference's, and so many seconds more.

Of 77 right answers to 19 exercises none took more than half of that; a loop of operators over 10,000 elements takes at
least three times as much. A right answer may take another route, such as an elimination by hand: 6 times. A loop over
plain numbers takes no longer than a sort, so that no limit can tell the two apart (`tools/loops.py`).
"""

_WORKERS = 3
_CLOSE = {"rtol": 1e-3, "atol": 1e-3}


def reference_function(function: Proxy) -> Proxy | None:
    """Return the reference's function of the same name as a student's function, or None.

    Return None if there is no reference, if it does not have that function, or if the function has no name.

    Args:
        function: a function of the student's.
    """
    child, reference = target_of(function).child, connection_of(function).reference
    if reference is None or child[0] != "name" or child[2] not in reference.names():
        return None
    return proxy_of_name(reference, child[2])


def assert_no_slow_loop(function: Proxy, reference: Proxy, small: tuple[Any, ...], large: tuple[Any, ...]) -> None:
    """Fail if a function takes far more CPU time for a large input than the reference.

    More than 12 times the reference's time plus 5 ms fails. The operating system measures the CPU time of both workers.
    From 10,000 elements on this finds a loop that runs operators for each of the elements. It does not find one over
    plain numbers, such as those of `tolist`: `assert_stays_in_torch` is about these.

    Args:
        function: a function of the student's, by name.
        reference: the function of the same name in the reference.
        small: arguments for which both results are compared first; if they agree, the results for `large` must agree,
            too.
        large: arguments of the call that is measured.

    Raises:
        CheckFailed: the call takes far more, or its result is wrong although that for `small` is right.
    """
    is_right = allclose(_timed_call(function, small)[0], _timed_call(reference, small)[0], **_CLOSE)
    actual, took_s = _timed_call(function, large)
    right, limit_s = _timed_call(reference, large)
    # Otherwise an answer could skip the work where it is large. One that is wrong for small arguments loses elsewhere.
    if is_right and not allclose(actual, right, **_CLOSE):
        raise CheckFailed(say("the result of `{}` for a large input is wrong", function), about="values")
    if took_s is None or limit_s is None or took_s <= _TIMES_CPU * limit_s + _SPARE_S:
        return
    # A busy machine adds to both times and takes nothing away, so the least count, and those of fresh workers decide.
    for _ in range(_WORKERS):
        took_s = min(took_s, _cpu_s_in_new_worker(function, small, large))
        limit_s = min(limit_s, _cpu_s_in_new_worker(reference, small, large))
        if took_s <= _TIMES_CPU * limit_s + _SPARE_S:
            return
    public = say("`{}` takes far more CPU time for a large input than the reference", function)
    most_ms = 1e3 * (_TIMES_CPU * limit_s + _SPARE_S)
    numbers = f"it takes {took_s * 1e3:.3g} ms of CPU time, and the reference takes {limit_s * 1e3:.3g} ms"
    numbers += f"; expected at most {most_ms:.3g} ms"
    raise CheckFailed(public, f"{public}\n{numbers}", about="performance")


def _timed_call(function: Proxy, args: tuple[Any, ...]) -> tuple[Any, float | None]:
    """Call a function with copies of arguments, and measure the CPU time of its worker.

    Return the result, and the CPU seconds, which are None if this system does not show them.
    """
    connection = connection_of(function)
    connection.names()
    worker = connection.live_worker()
    before = worker.cpu_s()
    result = connection.call(function, copy_values(*args), {}, function)
    after = worker.cpu_s()
    return result, None if before is None or after is None else after - before


def _cpu_s_in_new_worker(function: Proxy, small: tuple[Any, ...], large: tuple[Any, ...]) -> float:
    """Return the CPU seconds of a call with large arguments in a new worker.

    A call with the small arguments comes first and is not measured. Return 0 if this system does not show CPU times.
    """
    with closing(connection_of(function).with_new_worker()) as fresh:
        # How often this is called depends on times, and a check's later inputs must not. The worker learns nothing new.
        fresh.record.renew = None
        same = proxy_of_name(fresh, target_of(function).child[2])
        _timed_call(same, small)
        return _timed_call(same, large)[1] or 0.0


_LEAVES = say("takes numbers out of PyTorch")


class _LimitTexts(NamedTuple):
    """The messages about one count.

    Attributes:
        above: a function that returns the message for a count above a limit: "runs more than 10 operations" for "10".
        above_none: the message for a count above a limit of 0, such as "runs operations of PyTorch".
    """

    above: Callable[[str], Public]
    above_none: Public


_LIMITS: Mapping[str, _LimitTexts] = {
    "ops": _LimitTexts(lambda most: say("runs more than {} operations", most), say("runs operations of PyTorch")),
    "bytes": _LimitTexts(lambda most: say("makes more than {} bytes of new memory", most), say("makes new memory")),
    "peak": _LimitTexts(
        lambda most: say("needs more than {} bytes of new memory at a time", most), say("needs new memory")
    ),
    "transfers": _LimitTexts(
        lambda often: say("copies more than {} between devices", often), say("copies between devices")
    ),
    "transferred": _LimitTexts(
        lambda most: say("copies more than {} bytes between devices", most), say("copies between devices")
    ),
    "syncs": _LimitTexts(lambda often: say("waits more than {} for a device", often), say("waits for a device")),
    "collectives": _LimitTexts(lambda most: say("calls more than {} collectives", most), say("calls collectives")),
    "sent": _LimitTexts(
        lambda most: say("passes more than {} bytes to collectives", most), say("passes tensors to collectives")
    ),
    "escapes": _LimitTexts(lambda often: say("takes numbers out of PyTorch more than {}", often), _LEAVES),
    "versions": _LimitTexts(
        lambda often: say("writes more than {} into its arguments", often), say("writes into its arguments")
    ),
}
"""The messages for each count."""

_KNOWN_AS = {"_to_copy": "to", "_local_scalar_dense": "item", "_linalg_solve_ex": "linalg.solve"}
"""Operators whose names no student has written, and what calls them."""
_TIMES = ("transfers", "syncs", "escapes", "versions")

_ON_DEVICES = ("transfers", "transferred", "syncs")

_TIMES_OPS, _SPARE_OPS = 20, 100
"""Up to so many times the operations of the reference do not count as a loop: an elimination by hand has 60."""


def assert_costs_at_most(function: Proxy, args: tuple[Any, ...], **limits: int) -> Counts:
    """Fail if one call exceeds limits on what it costs, such as `ops=10` for operators or `bytes=0` for memory.

    The counts that have a limit are added to the report.

    Args:
        function: a function of the student's.
        args: its arguments, as one tuple.
        **limits: any of ops, bytes, peak, transfers, transferred, syncs, collectives, sent, escapes, versions. Of them,
            bytes, peak, transferred and sent are bytes, and the others say how often something may happen.

    Returns:
        All counts of the call, and its result.

    Raises:
        CheckFailed: a count is above its limit.
        ValueError: there is no such count.
    """
    if unknown := set(limits) - set(_LIMITS):
        raise ValueError(f"unknown count {', '.join(sorted(unknown))}; the counts are {', '.join(_LIMITS)}")
    # All counts come from one call, so that they describe the same work.
    counts = count_costs(function, *args)
    for name, most in limits.items():
        texts = _LIMITS[name]
        actual = counts.total(name)
        report(function, name, actual)
        # A hidden check may name the limit, but not what was counted: that can reveal the input's size.
        public = say("`{}` {}", function, texts.above(_limit_text(name, most)) if most else texts.above_none)
        if actual > most:
            detail = getattr(counts, name)
            inner = f": {dict(detail.most_common(5))}" if isinstance(detail, Counter) else ""
            numbers = f"expected at most {most:,}, got {actual:,}{inner}"
            moments = counts.moments if name in _ON_DEVICES else ()
            left_out = counts.moment_count - len(moments) if moments else 0
            story, picture = f"{public}\n{numbers}", None
            if moments:
                drawn = show.timeline_of(moments, left_out)
                picture = Picture(moments=moments, left_out=left_out, said=drawn)
                story += f"\n{drawn}"
            raise CheckFailed(public, story, "memory" if name == "bytes" else "performance", picture)
    return counts


def count_ops(function: Proxy, *args: Any, **kwargs: Any) -> Counter[str]:
    """Count how often each operator of PyTorch is dispatched in one call, with gradients off.

    The sum is added to the report.

    Args:
        function: a function of the student's.
        *args: its arguments.
        **kwargs: its arguments by name.

    Returns:
        The counts by the names of the operators, such as "mul".

    Raises:
        CheckFailed: the source could hide what the code does, or the counts could not be read.
    """
    counts = count_costs(function, *args, **kwargs)
    report(function, "ops", counts.ops.total())
    return counts.ops


_MOST_IN_A_TURN, _SPARE_COUNT = 8, 2
"""So often an operator runs in one turn of a loop at most, and so often beside the loop."""

_SPARE_LINES = 100
"""So many more lines of Python may run for a large input, as in a loop over powers of two or over dimensions."""


def assert_no_loop(function: Proxy, small: tuple[Any, ...], large: tuple[Any, ...], *, slack: int = 0) -> Counter[str]:
    """Fail if a large input takes more operations or lines of Python than a small one.

    `torch.sum` is one operation for 10 elements and for 10,000. A loop that adds them, such as Python's `sum`, is at
    least 10 and 10,000. Where there is a reference, operations, lines and CPU time are compared with it as well: let
    one large input have 10,000 elements, so that a loop that runs operators shows however it is hidden.

    A loop over plain numbers, such as those of `tolist`, shows by the lines of the student's own files that run, as the
    worker counts them. What loops in C, such as `sorted` over a list, does not show: `assert_stays_in_torch` is about
    numbers that leave PyTorch. For a task that forbids loops over few items, too, `assert_no_loop_in_source` looks for
    them in the text.

    Args:
        function: a function of the student's.
        small: its arguments, as small as in checks on values. Where there is a reference and the result for these is
            right, the result for large arguments must be right, too.
        large: arguments ten times as large, or more.
        slack: the number of additional operations, and of additional lines, that the large call may take.

    Returns:
        How often each operator ran in the large call, by name.

    Raises:
        CheckFailed: the large call takes more, or its result is wrong.
    """
    # Two sizes and no fixed number: what an honest answer costs differs, that it does not grow is the same for all.
    at_small, at_large = count_costs(function, *small), count_costs(function, *large)
    few, ops = at_small.ops.total(), at_large.ops
    many = ops.total()
    report(function, "ops", many)
    if many > few + slack:
        public = say("`{}` runs more operations for a larger input", function)
        over = _loop_text(ops, small, large)
        story = f"{public}\nsmall input  {few} operations\nlarge input  {many} operations ({most_frequent(ops)}){over}"
        if (rows := rows_hint(function, large)) is not None:
            public, story = say("{}; {}", public, rows), f"{story}\n{rows}"
        raise CheckFailed(public, story, "performance")
    reference, same = reference_function(function), 0
    if reference is not None:
        costs = count_costs(reference, *copy_values(*large))
        same = max(0, costs.line_count - count_costs(reference, *copy_values(*small)).line_count)
    grown = at_large.line_count - at_small.line_count
    if grown > same + slack + _SPARE_LINES:
        public = say("`{}` runs more lines of Python for a larger input", function)
        often = ", ".join(f"{name}: {times:,} times" for name, times in at_large.lines.most_common(2))
        story = f"{public}\nsmall input  {at_small.line_count:,} lines\nlarge input  {at_large.line_count:,} lines"
        raise CheckFailed(public, f"{story} ({often}){_loop_text(at_large.lines, small, large)}", "performance")
    if reference is not None:
        # Whoever runs useless operations where the input is small has as many for both.
        most = _TIMES_OPS * costs.ops.total() + _SPARE_OPS
        public = say("`{}` runs far more operations than the reference", function)
        assert_true(many <= most, public, f"{public}\nexpected at most {most:,}, got {many:,}")
        assert_no_slow_loop(function, reference, small, large)
    return ops


def _loop_text(counts: Counter[str], small: Sequence[Any], large: Sequence[Any]) -> str:
    """Return a phrase such as ", as in a loop over 100 items", or "".

    If `{"add": 100, "mul": 200}` ran for an input of shape (100,), and the small input has the shape (3,), it is a loop
    over 100 items: the counts are small multiples of this size. Products of sizes are tried, too. Return "" if no size
    fits a third of the counts.

    Args:
        counts: the number of runs of each operator or line for the large input.
        small: the small input.
        large: the large input.
    """

    def fitting(size: int) -> int:
        return sum(many for many in counts.values() if _is_small_multiple(many, size))

    before = [_sizes_of(value) for value in small]
    sizes = [
        [size for place, size in enumerate(_sizes_of(value)) if size not in other[place : place + 1]]
        for value, other in zip(large, before, strict=False)
    ]
    products = {math.prod(some) for row in sizes for number in (1, 2, 3, 4) for some in combinations(row[:6], number)}
    products |= {one * other for row, later in combinations(sizes, 2) for one in row for other in later}
    items = max(sorted(size for size in products if size > 1), key=lambda size: (fitting(size), size), default=0)
    if not items or 3 * fitting(items) < counts.total():
        return ""
    return f", as in a loop over {items:,} items"


def _is_small_multiple(number: int, size: int) -> bool:
    """Return whether a loop over `size` items may have run an operator `number` times.

    For 100 items, 98 to 102 may, and 298 to 302, up to 8 times 100; 150 may not.
    """
    times = round(number / size)
    return 1 <= times <= _MOST_IN_A_TURN and abs(number - times * size) <= _SPARE_COUNT


def _sizes_of(value: Any) -> list[int]:
    """Return the numbers of items that a loop over an argument may have.

    A tensor or an array of shape (2, 3) has `[2, 3]`. A list, a tuple or a dict has its length, and the int 7 has
    `[7]`. Another argument has `[]`.
    """
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [*value.shape]
    if isinstance(value, (list, tuple, dict)):
        return [len(value)]
    return [value] if type(value) is int else []


def most_frequent(ops: Counter[str]) -> str:
    """Return as text the three operators that ran most often.

    In "9 add, 4 mul, 3 sum, 2 others", the last number says how often all other operators ran.

    Args:
        ops: the number of runs of each operator, by name.
    """
    known = Counter[str]()
    for name, times in ops.items():
        known[_KNOWN_AS.get(name, name)] += times
    top = known.most_common(3)
    others = known.total() - sum(times for _, times in top)
    return ", ".join([*(f"{times} {name}" for name, times in top), *([pluralize(others, "other")] if others else [])])


def assert_no_new_storage(function: Proxy, *args: Any) -> Counts:
    """Fail if a call allocates memory for tensors: it must return views, or work in place.

    Args:
        function: a function of the student's.
        *args: its arguments.

    Returns:
        All counts of the call, and its result.

    Raises:
        CheckFailed: a new storage has bytes.
    """
    return assert_costs_at_most(function, args, bytes=0)


def assert_stays_in_torch(function: Proxy, *args: Any) -> None:
    """Fail if a call takes numbers out of PyTorch, as `tolist`, `numpy` and `item` do.

    That is seen by the names of the calls that take numbers out (`tolist`, `numpy`, `item` and similar ones), and by
    the gradient that is lost.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments.

    Raises:
        CheckFailed: a number leaves, or no gradient reaches an argument.
    """
    counts = count_costs(function, *args)
    report(function, "escapes", counts.escapes.total())
    # A hidden check names one way only, the first by alphabet: which ways, and in which order, is the worker's choice.
    first = min(counts.escapes, default="")
    names = " and ".join(f"`{name}`" for name in counts.escapes)
    story = f"`{shown_name(function)}` takes numbers out of PyTorch (by {names})"
    assert_true(not counts.escapes, say("`{}` takes numbers out of PyTorch (by `{}`)", function, first), story)
    # Who hides the name from the hook still loses the gradient.
    assert_keeps_graph(function, *args)


def _limit_text(name: str, most: int) -> str:
    """Return the limit of a count in words: "1,000", or for events "once", "twice", "3 times"."""
    if name not in _TIMES:
        return Limit(f"{most:,}")
    return say("once") if most == 1 else say("twice") if most == 2 else say("{} times", Limit(f"{most:,}"))


# -- several ranks ---------------------------------------------------------------------------------------------------

_PROCESSES = 8
"""A rank, and the threads that gloo starts in it."""

_CAUSES = {"raised": 0, "died": 1, "waits": 2}


@dataclass(frozen=True)
class Rank:
    """The costs and the result of one rank, as the worker says.

    Attributes:
        result: the value that the call returned.
        collectives: the number of calls of each collective, by name.
        sent: bytes handed to collectives.
        changed: True if one of its arguments was changed.
    """

    result: Any
    collectives: Counter[str]
    sent: int
    changed: bool


def run_on_ranks(function: Proxy, each: Sequence[Sequence[Any]]) -> list[Rank]:
    """Call a function on several ranks of `torch.distributed` at the same time.

    `run_on_ranks(student.average, [[a], [b]])` calls `average(a)` on rank 0 and `average(b)` on rank 1. The ranks are
    processes of the student's worker. `torch.distributed` is initialised with gloo, over loopback. The exercise's
    limits must allow eight processes for each rank, as gloo's threads count too.

    Args:
        function: a function of the student's.
        each: the arguments of each rank, in the order of the ranks.

    Returns:
        What each rank did, in the order of the ranks.

    Raises:
        CheckFailed: a rank raised, died, or waits for others that never come.
        CannotRun: this machine cannot fork.
        ValueError: the exercise's limits allow too few processes.
    """
    if not hasattr(os, "fork"):
        raise CannotRun("several ranks need a system that can fork")
    args = [list(arguments) for arguments in each]
    if is_proxy(function) and connection_of(function).limits.processes < _PROCESSES * len(args):
        # Else the student would read about too many processes, none of which the student started.
        raise ValueError(f"{len(args)} ranks need `limits: processes: {_PROCESSES * len(args)}` in exercise.yaml")
    # A deadlock costs its whole wait once, like a function that does not end.
    if is_proxy(function) and shown_name(function) in connection_of(function).deadlocked:
        raise _deadlock_failure(function)
    answer = call_builtin_probe(function, "run_on_ranks", [args], tuple(args[0]), {}, len(args))
    if not isinstance(answer, list) or len(answer) != len(args):
        raise CheckFailed(say("the results of the ranks of `{}` could not be read", function))
    rows = [row if isinstance(row, dict) else {} for row in answer]
    if is_proxy(function) and any(row.get("timed_out") is True for row in rows):
        connection_of(function).deadlocked.add(shown_name(function))
    # First the rank that the others wait for.
    order = sorted(range(len(rows)), key=lambda rank: _CAUSES.get(str(rows[rank].get("ended")), len(_CAUSES)))
    ranks = {rank: _read_rank(function, rank, len(rows), rows[rank]) for rank in order}
    for rank in ranks.values():
        report(function, "collectives", rank.collectives.total())
        report(function, "sent", rank.sent)
    return [ranks[rank] for rank in range(len(rows))]


def _deadlock_failure(function: Proxy, where: str = "") -> CheckFailed:
    """Return the `CheckFailed` for a function that hangs in a collective on a rank.

    The other ranks do not call that collective, or pass it another size. The first line of the message is the same in
    all checks, so that a report shows all of them in one row.

    Args:
        function: the function that hangs.
        where: the rank that waits, in words for shown checks and staff; "" if an earlier call hung.
    """
    public = say(
        "`{}` hangs on a rank: the other ranks do not call the collective that it waits in, or pass it another size",
        function,
    )
    return CheckFailed(public, f"{public}\n{where}" if where else str(public), about="raised")


def _read_rank(function: Proxy, rank: int, size: int, row: object) -> Rank:
    """Turn the row that a worker sent about one rank into a `Rank`.

    `{"ended": "returned", "result": 3, "sent": 8, ...}` becomes `Rank(result=3, sent=8, ...)`. Fail if the rank raised,
    died or waits, or if the row cannot be read.
    """
    match row:
        case {"ended": "raised", "raised": [str() as kind, str() as text]}:
            public = say("`{}` raises an exception on a rank", function)
            raise CheckFailed(public, f"rank {rank} raised {kind}: {text}")
        case {"ended": "died"}:
            public = say("`{}` ends the process of a rank", function)
            story = f"the process of rank {rank} of {size} ended before `{shown_name(function)}` returned"
            raise CheckFailed(public, story)
        case {"ended": "waits"}:
            raise _deadlock_failure(function, f"rank {rank} of {size} waits in a collective")
        case {"ended": "returned", "result": result, "collectives": dict() as called, "sent": int() as sent,
              "changed": bool() as changed}:  # fmt: skip
            collectives = decode_counts(called)
            if collectives is not None and sent >= 0:
                return Rank(result, collectives, sent, changed)
    raise CheckFailed(say("the results of the ranks of `{}` could not be read", function))
