"""What decides about loops and hidden calls: the text of the submission, and CPU time that is measured from outside.

Counts that are made beside student code explain a result to an honest student. A student who changes them gains
nothing: their text must not contain what could do that, and a loop costs time in whatever way it is hidden.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from typing import Any

from grader.check.text import text_of
from grader.check.values import agrees
from grader.connection.connection import Proxy, connection_of, named, place_of
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.wire.decode import copies

_TIMES, _SPARE_S = 12, 0.005
"""A call may take so many times the CPU time of the reference's, and so many seconds more.

Of 77 right answers to 19 exercises none took more than half of that; a loop of operators over 10,000 elements takes at
least three times as much. A right answer may take another route, such as an elimination by hand: 6 times.
"""

_WORKERS = 3
_CLOSE = {"rtol": 1e-3, "atol": 1e-3}


def reads_openly(function: Proxy, allow: Collection[str] = ()) -> None:
    """The submission's text contains nothing that could hide what its code does.

    Args:
        function: a function of the student's.
        allow: words that are allowed besides, such as "Timer".

    Raises:
        CheckFailed: it contains such a thing.
    """
    connection = connection_of(function)
    connection.names()  # a file that does not load is reported as that
    text = text_of(connection.files, connection.module)
    if text.too_deep:
        raise CheckFailed(say("a file of yours nests too deeply to be read"), from_text=True)
    if (mention := text.hidden(allow)) is not None:
        folder = f"{connection.folder}/" if connection.folder not in ("", ".") else ""
        what = f"`{mention.name}` could hide what your code does, so that this check cannot judge it; write it without"
        line = f"    {folder}{mention.file}, line {mention.line}\n        {text.line_of(mention)}"
        raise CheckFailed(f"{what}\n{line}", from_text=True)


def same_of_reference(function: Proxy) -> Proxy | None:
    """The function of the same name in the reference; None where there is none, as in the checks of students."""
    child, reference = place_of(function).child, connection_of(function).reference
    if reference is None or child[0] != "name" or child[2] not in reference.names():
        return None
    return named(reference, child[2])


def spends_no_time_on_loops(function: Proxy, theirs: Proxy, small: tuple[Any, ...], large: tuple[Any, ...]) -> None:
    """A large call takes no more CPU time than one without a loop, as seen from outside and beside the reference.

    From 10,000 elements on this finds every loop of operators over the elements.

    Args:
        function: a function of the student's, by name.
        theirs: that of the reference.
        small: arguments for which the result is compared, to know whether that for large ones has to be right.
        large: arguments of the call that is measured.

    Raises:
        CheckFailed: it takes far more, or its result is wrong.
    """
    is_right = agrees(_called(function, small)[0], _called(theirs, small)[0], **_CLOSE)
    yours, took_s = _called(function, large)
    right, limit_s = _called(theirs, large)
    # Otherwise an answer could skip the work where it is large. One that is wrong for small arguments loses elsewhere.
    if is_right and not agrees(yours, right, **_CLOSE):
        raise CheckFailed(say("the result of `{}` for a large input is wrong", function), about="values")
    if took_s is None or limit_s is None or took_s <= _TIMES * limit_s + _SPARE_S:
        return
    # A busy machine adds to a time and takes nothing away, so the least counts, and that of fresh workers decides.
    for _ in range(_WORKERS):
        took_s, limit_s = min(took_s, _fresh_s(function, small, large)), _fresh_s(theirs, small, large)
        if took_s <= _TIMES * limit_s + _SPARE_S:
            return
    public = say("`{}` takes far more time for a large input than the reference: a loop in Python", function)
    numbers = f"it takes {took_s * 1e3:.3g} ms of CPU time, the reference {limit_s * 1e3:.3g} ms"
    raise CheckFailed(public, f"{public}\n{numbers}", about="performance")


def _called(function: Proxy, args: tuple[Any, ...]) -> tuple[Any, float | None]:
    """The result of a call with copies of arguments, and the CPU seconds of its worker meanwhile, if they are known."""
    connection = connection_of(function)
    connection.names()
    worker = connection.live_worker()
    before = worker.cpu_s()
    result = connection.call(function, copies(*args), {}, function)
    after = worker.cpu_s()
    return result, None if before is None or after is None else after - before


def _fresh_s(function: Proxy, small: tuple[Any, ...], large: tuple[Any, ...]) -> float:
    """CPU seconds of a large call in a fresh worker."""
    with closing(connection_of(function).fresh()) as fresh:
        # How often this is called depends on times, and a check's later inputs must not. The worker learns nothing new.
        fresh.record.renew = None
        same = named(fresh, place_of(function).child[2])
        _called(same, small)
        return _called(same, large)[1] or 0.0
