"""What took virtual time on a simulated accelerator while a check ran, or lines of the student's, for `grade trace`.

It is what the worker says, and it decides nothing: it is drawn for the student whose code ran there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from grader.connection.connection import Connection, named
from grader.connection.raised import raised_by_student, shown
from grader.connection.record import Record
from grader.model import Check, Outcome, Verdict
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.model.picture import Moment

_LONGEST = 60
_MOST = 4000
_MOST_SHAPES = 8


def traced(check: Check, student: Connection, lines: str, attempt: Callable[[Connection], Any]) -> Outcome:
    """An outcome that carries the moments.

    Args:
        check: the check.
        student: whose worker is called.
        lines: what is run in the place of the check; "" for the check itself.
        attempt: runs the check.
    """
    outcome = Outcome(check.id, Verdict.NOT_RUN, device=student.device)
    try:
        if not lines and check.shown:
            attempt(student)
            return replace(outcome, moments=tuple(_moments(student)))
        # In a worker that has met no hidden input, so the moments reveal none.
        with closing(student.fresh()) as fresh:
            fresh.begin_check(Record())
            fresh.names()
            try:
                named(fresh, "tried", "")(fresh.module, lines)
            except Exception as error:  # any exception of the lines: what they did until then is drawn
                raised = raised_by_student(error)
                outcome = replace(outcome, message=f"raised {shown(raised) if raised else type(error).__name__}")
            return replace(outcome, moments=tuple(_moments(fresh)))
    except NotUsable as error:
        return replace(outcome, verdict=Verdict.ERROR, message=error.story)
    except CheckFailed as error:
        return replace(outcome, verdict=Verdict.FAILED, message=error.story)
    except WorkerLost as lost:
        return replace(outcome, verdict=lost.verdict, message=lost.message)


def _moments(connection: Connection) -> Iterator[Moment]:
    """What a worker says; rows of another form are left out."""
    rows = named(connection, "moments", "")()
    for row in rows[:_MOST] if isinstance(rows, list) else []:
        match row:
            case [str(name), str(place), float(start), float(end), int(stream), str(unit), int(nbytes), list(shapes)]:
                if not 0 <= start <= end < math.inf or not 0 <= nbytes < 1 << 62:
                    continue
                sizes = tuple(tuple(shape) for shape in shapes[:_MOST_SHAPES] if _is_shape(shape))
                yield Moment(name[:_LONGEST], place[:_LONGEST], start, end, stream, unit[:_LONGEST], nbytes, sizes)


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int for size in value)
