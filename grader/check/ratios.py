"""Speed and memory: a ratio to another solution, measured side by side.

Speed: no check fails at first. A function that seems too slow is measured once more when the rest is done, and only the
second result counts; a function that sleeps for seconds fails at once. A check that cannot decide in time is
`inconclusive`, and is repeated in the same way. Where the CPU clock of another process cannot be read (macOS, Windows),
the ratio is shown as advice and decides nothing.

Memory: the count of new storages (`costs`) is exact but untrusted, so it explains. The memory of a worker's process
includes what Python and the libraries take, but the worker cannot fake it: it is read from outside, in fresh workers,
where the system shows it (Linux). The C library of these workers returns freed blocks to the system at once, so the
number does not depend on the holes of a heap.
"""

from __future__ import annotations

import math
from contextlib import closing
from typing import Any

from grader.check.calls import report
from grader.check.costs import count_costs
from grader.check.properties import assert_true
from grader.check.values import allclose, as_number, assert_values
from grader.connection.connection import Proxy, connection_of, owned_name_of, shown_name
from grader.model import Speed
from grader.model.endings import CannotRun, CheckFailed, Inconclusive
from grader.model.public_text import Limit, Public, say
from grader.speed.measurement import Measurement, NewInputs
from grader.speed.ratio import Ratio
from grader.speed.timing import Inputs, TimedWorker
from grader.wire.call import copy_values

_REFERENCE = say("the reference")


def assert_cpu_time_ratio(
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
    """Fail if the CPU time of a function exceeds `at_most` times that of another.

    Args:
        function: the student's.
        other: the reference's function of the same task; or a function in the reference's file that does the task
            slowly, such as the starter's loop, with a limit below 1.
        inputs: a function that makes new arguments of a size; tensors and arrays alone are secret until the clock runs.
        size: the size for `inputs`. It is doubled if a call of `other` is too short for the clock, five times at most;
            a call that is shorter than 0.013 ms even then counts as 0.013 ms. The warm-up has a tenth of it.
        at_most: the largest ratio that passes; choose it far from the ratios of right answers and of wrong ones.
        named: the name of `other` in messages.
        in_place: True if what became of the arguments is compared as well, for a function that changes them.
        rtol: relative tolerance for the results, as for `assert_values`.
        atol: absolute tolerance.

    Returns:
        What was measured: the ratio, its bounds, and the CPU seconds of both.

    Raises:
        CheckFailed: the function takes longer, or a timed result is wrong.
        Inconclusive: the machine is too busy; or the function takes longer, and another run of the check is to confirm
            it.
        CannotRun: this system does not show the CPU time of another process.
    """

    def same_results(mine: Any, theirs: Any) -> None:
        # A fast function may be a wrong one. Of one number, kind and shape are for checks of their own.
        what = say("the result of a timed call")
        if math.prod(getattr(theirs, "shape", (0,))) == 1:
            mine, theirs = as_number(mine, what), as_number(theirs)
        assert_values(mine, theirs, what, rtol=rtol, atol=atol)

    connection = connection_of(function)
    connection.raise_if_given_up(owned_name_of(function))  # endless for small inputs: it is not slow but wrong
    final = not connection.record.unconfirmed
    measurement = Measurement(function, other, inputs, at_most, same_results, size, in_place, final)
    ratio = measurement.decide()
    limit = _limit_text(at_most, named)
    span = "between " + " and ".join(
        _ratio_text(each, at_most).partition(" time")[0] for each in (ratio.low, ratio.high)
    )
    sentence = f"{_ratio_text(ratio.value, at_most)} {named} ({span}); {_expected_text(at_most)}"
    if ratio.too_short:
        sentence += f"; {named} takes less than {_number_text(1000 * ratio.other_s)} ms and counts as so long"
    # Noted before anything is decided: the report has the ratio, whether it passed or not.
    connection.record.speed.append(_speed_of(ratio, named, sentence))
    if not measurement.cpu_clock:
        no_clock = say("speed is not graded here: this system does not show the CPU time of another process")
        raise CannotRun(no_clock, f"{no_clock}; by wall-clock time: {sentence}")
    # No verdict is better than a wrong one: the host repeats the check when the machine is quiet.
    if ratio.below is None:
        busy = say("the machine is too busy to measure whether `{}` is fast enough; it must {}", function, limit)
        raise Inconclusive(busy, f"{busy} (measured: {span})")
    if ratio.below:
        return ratio
    # A sleeping process does not wait for a core, so a quiet machine changes nothing. Other processes may wait for one.
    final = final or (ratio.is_slow_by_sleep and connection.limits.processes == 1)
    raise _slowness_failure(function, ratio, limit, at_most, named, f"{span}; {ratio.samples} samples", final=final)


def _slowness_failure(
    function: Proxy, ratio: Ratio, limit: Public, at_most: float, named: str, samples: str, *, final: bool
) -> CheckFailed | Inconclusive:
    """Return the error for a function that takes too long.

    It is `Inconclusive` unless the measurement is final.

    Args:
        function: the student's function.
        ratio: the measured ratio.
        limit: the limit, in words that a hidden check may show.
        at_most: the largest ratio that passes.
        named: the name of the other function in messages.
        samples: the bounds of the ratio and the number of samples, in words.
        final: True if the check is not to run again.
    """
    public, head = say("`{}` is too slow: it must {}", function, limit), ""
    if ratio.waits:
        # Sleep takes no CPU time, so the milliseconds of a function that sleeps would look fine.
        public = say("`{}` sleeps, or works in other processes, for longer than it may take", function)
    else:
        more = "more than " if ratio.at_least else ""
        verb = "takes" if at_most >= 1 else "is"
        measured = f"{more}{_ratio_text(ratio.value, at_most)} {named}"
        head = f"`{shown_name(function)}` {verb} {measured}; {_expected_text(at_most)}"
    if not final:
        seems = say("{} (measured while other programs ran; to be confirmed)", public)
        return Inconclusive(seems, f"{head or public} (to be confirmed)")
    return CheckFailed(
        public,
        f"{head or public}\nyour call takes {_number_text(1000 * ratio.mine_s)} ms of CPU time, {named} takes "
        f"{_number_text(1000 * ratio.other_s)} ms ({samples}, {ratio.pairs} pairs of fresh processes)",
    )


def _limit_text(at_most: float, named: str) -> Public:
    """Return the limit in words, such as "take at most 2 times as long as the reference".

    A limit below 1 has the words "be at least 2 times as fast as".
    """
    if at_most >= 1:
        return say("take at most {} times as long as {}", Limit(f"{at_most:g}"), named)
    return say("be at least {} times as fast as {}", Limit(f"{1 / at_most:g}"), named)


def _expected_text(at_most: float) -> str:
    """Return the limit as a part of a message, such as "expected at most 2 times".

    A limit below 1 has the words "expected at least 2 times".
    """
    return f"expected at most {at_most:g} times" if at_most >= 1 else f"expected at least {1 / at_most:g} times"


def _speed_of(ratio: Ratio, against: str, sentence: str) -> Speed:
    """Return a measured ratio as the `Speed` that the report shows."""
    high = None if math.isinf(ratio.high) else _round_ratio(ratio.high)
    ratios = _round_ratio(ratio.value), _round_ratio(ratio.low), high, _round_ratio(ratio.limit)
    times = _round_ratio(1000 * ratio.mine_s), _round_ratio(1000 * ratio.other_s)
    return Speed(sentence, against, *ratios, *times, ratio.samples, ratio.pairs)


def _ratio_text(ratio: float, at_most: float) -> str:
    """Return a ratio in words, such as "3 times as long as".

    With a limit below 1 the words are "2 times as fast as".
    """
    text = _number_text(ratio if at_most >= 1 else 1 / max(ratio, 1e-9))
    return f"{text} time{'' if text == '1' else 's'} as {'long' if at_most >= 1 else 'fast'} as"


def _number_text(value: float) -> str:
    """Return a number as text with two digits, such as "71" or "0.71".

    From 100 on the text has three digits, such as "1,590". An infinite number is "any number of".
    """
    if math.isinf(value):
        return "any number of"
    # A measurement with six digits would be taken for one.
    rounded = _round_ratio(value)
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _round_ratio(value: float) -> float:
    return float(f"{value:.3g}") if value >= 100 else float(f"{value:.2g}")


_CALL_SLACK = 8 << 20
"""Bytes by which one call may grow a process beyond the limit: right answers use other parts of PyTorch and Python
than the reference, up to some MB. The same call varies by less than 0.3 MB."""

_LIFE_SLACK = 48 << 20
"""Bytes by which it may be larger than the reference's process ever was: a right answer may load 38 MB of PyTorch."""

_SMALL = 1024
_TINY = 8
"""A size of which checks on values have inputs, too."""


def assert_peak_memory_ratio(
    function: Proxy,
    reference: Proxy,
    inputs: NewInputs,
    *,
    size: int,
    at_most: float,
    limit: str = "",
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Fail if the peak memory of a call exceeds `at_most` times that of the reference.

    Memory counts twice. The worker counts the new storages of a call a tenth as large. On Linux, the growth of the
    worker's process is measured from outside, with lists and other Python objects. It is the memory in use at the peak,
    in whole pages for each block of 8 kB or more: freed blocks go back to the system at once, so the verdict does not
    depend on the state of a heap. The process may grow by 8 MB more than the ratio allows.

    Students do not know the reference: `limit` says in the rule's words what a call may need. It must be no more than
    `at_most` times what the reference needs, so that the message is true.

    Args:
        function: the student's.
        reference: the reference's function of the same task.
        inputs: a function of a size that makes new arguments.
        size: the size for `inputs`; large enough that a forbidden temporary takes at least 30 MB.
        at_most: the largest ratio of bytes that passes.
        limit: the limit in the words of the rule, such as "the memory of eight (n, m) tensors"; without it, messages
            name the reference.
        rtol: relative tolerance for the results, as for `assert_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: the function needs more memory, as the worker counts or as measured from outside; or its result is
            wrong.
    """
    tiny, few = inputs(max(1, min(_TINY, size // 100))), inputs(max(1, size // 10))
    is_right = allclose(function(*copy_values(*tiny)), reference(*tiny), rtol=rtol, atol=atol)
    mine, theirs = count_costs(function, *copy_values(*few)), count_costs(reference, *copy_values(*few))
    report(function, "peak", mine.peak)
    public = say("`{}` needs more than {} times the memory of the reference", function, Limit(f"{at_most:g}"))
    if limit:
        public = say("`{}` needs more than {}", function, limit)
    elif theirs.peak == 0:
        # A multiple of 0 is 0, so the limit would not help in a message.
        public = say("`{}` makes new memory; the reference makes none", function)
    story = f"{public}\nyour call needs {mine.peak:,} bytes at its peak, the reference needs {theirs.peak:,}"
    assert_true(mine.peak <= at_most * theirs.peak + _SMALL, public, story)
    most = say("much more memory than the reference") if not limit else say("more than {}", limit)
    far = say("`{}` needs {}; lists and other Python objects count, too", function, most)
    large_args, small_args = inputs(size), inputs(max(1, size // 100))
    result, right = _compare_memory_growth(function, reference, large_args, small_args, at_most, far)
    # Otherwise an answer could skip the work where it is large. One that is wrong for tiny arguments loses elsewhere.
    same = allclose(result, right, rtol=rtol, atol=atol) and allclose(mine.result, theirs.result, rtol=rtol, atol=atol)
    if is_right and not same:
        raise CheckFailed(say("the result of `{}` for a large input is wrong", function), about="values")


def _compare_memory_growth(
    function: Proxy,
    reference: Proxy,
    large_args: tuple[Any, ...],
    small_args: tuple[Any, ...],
    at_most: float,
    public: Public,
) -> tuple[Any, Any]:
    """Fail if a large call needs far more memory than the reference's; return both results.

    Each call runs in a fresh worker.

    Args:
        function: the student's.
        reference: the reference's.
        large_args: the arguments of the large call.
        small_args: the arguments of a small call that each worker makes first.
        at_most: the largest ratio of the memory that passes.
        public: the message if the student's function needs more.

    Returns:
        The results of the student's function and of the reference; twice None if the memory cannot be measured.

    Raises:
        CheckFailed: the student's function uses far more.
    """
    theirs, mine = _measure_growth(reference, large_args, small_args), _measure_growth(function, large_args, small_args)
    # A system that does not show it: the count, which has passed already, is all there is.
    if mine is None or theirs is None:
        return None, None
    (before, after, result), (their_before, their_after, right) = mine, theirs
    most = at_most * (their_after.peak - their_before.resident)
    mapped = their_after.mapped_peak - their_before.mapped
    grown = {
        "during the call": (after.peak - before.resident, most + _CALL_SLACK),
        # What was made when the file was loaded counts, too, and memory that nothing was written to.
        "since the file was loaded": (after.peak - their_before.resident, most + _LIFE_SLACK),
        "in all": (after.mapped_peak - their_before.mapped, mapped + most + _LIFE_SLACK),
    }
    for when, (grew, allowed) in grown.items():
        numbers = f"expected its process to grow by at most {int(allowed) >> 20} MB {when}, got {grew >> 20} MB"
        if grew > allowed:
            raise CheckFailed(public, f"{public}\n{numbers}", about="memory")
    return result, right


def _measure_growth(function: Proxy, large_args: tuple[Any, ...], small_args: tuple[Any, ...]) -> Any:
    """Return (memory before, memory after, result) of one call in a fresh worker.

    Return None if the system does not show the memory of another process.

    Args:
        function: the function that is called.
        large_args: the arguments of the measured call.
        small_args: the arguments of a small call that comes first, and is not measured.
    """
    with closing(TimedWorker(function)) as worker:
        # A small call comes first: memory that a process takes for its first call is not the function's.
        without_torch = bool(connection_of(function).without)
        worker.call(Inputs(small_args, without_torch=without_torch))
        return worker.memory_around_call(Inputs(large_args, without_torch=without_torch))
