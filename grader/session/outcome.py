"""What a check ended with, as the host is told: for a student of a shown check more than of a hidden one."""

from __future__ import annotations

from grader.jobs import Keep
from grader.model import Check, Outcome, Verdict
from grader.remote.side import Side
from grader.session.decide import Decision
from grader.session.reproduce import reproduce

_AS_THEY_WERE = "(judged by the arguments as they were: your code changes one of them)"
_REPRODUCED = (Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT)


def judged_by_copies(decision: Decision) -> Decision:
    """The decision of a run in which student code got copies of its arguments; its texts say so."""
    verdict, message, detail = decision
    return verdict, message and f"{message}\n{_AS_THEY_WERE}", detail and f"{detail}\n{_AS_THEY_WERE}"


def outcome_of(
    check: Check, exercise: str, decision: Decision, student: Side, keep: Keep | None, seconds: float
) -> Outcome:
    """The outcome of a check.

    Args:
        check: the check.
        exercise: the id of its exercise.
        decision: what became of it.
        student: the side that was asked.
        keep: where what is too large for a message is kept, if anything is.
        seconds: how long it took.
    """
    verdict, message, detail = decision
    if check.shown and verdict in _REPRODUCED:
        lines = reproduce(exercise, check.id, student.calls, keep, student.device)
        message += f"\n\n{lines}" if lines else ""
    counters, speed = dict(student.counters), tuple(student.speed)
    # Of a hidden check they are for staff alone: what is counted or measured could carry a hidden number out.
    if not check.shown:
        counted = [f"counted: {counters}"] if counters else []
        detail = "\n".join([detail, *counted, *(found.told for found in speed)]).strip()
        counters = {}
    told = check.id, verdict, message, detail
    return Outcome(*told, round(seconds, 4), counters, speed, student.device, student.cause)
