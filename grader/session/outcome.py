"""What a check ended with, as the host is told: for a student of a shown check more than of a hidden one."""

from __future__ import annotations

from grader.model import Check, Outcome, Verdict
from grader.remote.side import Side
from grader.session.decide import Decision

AS_THEY_WERE = "(judged by the arguments as they were: your code changes one of them)"
"""Below a message of a run in which student code got copies."""


def judged_by_copies(decision: Decision) -> Decision:
    """The decision of a run in which student code got copies of its arguments; its texts say so."""
    verdict, message, detail = decision
    return verdict, message and f"{message}\n{AS_THEY_WERE}", detail and f"{detail}\n{AS_THEY_WERE}"


def outcome_of(check: Check, decision: Decision, student: Side, seconds: float) -> Outcome:
    """The outcome of a check.

    Args:
        check: the check.
        decision: what became of it.
        student: the side that was asked.
        seconds: how long it took.
    """
    verdict, message, detail = decision
    counters, speed = dict(student.counters), tuple(student.speed)
    # Of a hidden check they are for staff alone: what is counted or measured could carry a hidden number out.
    if not check.shown:
        counted = [f"counted: {counters}"] if counters else []
        detail = "\n".join([detail, *counted, *(found.told for found in speed)]).strip()
        counters = {}
    told = check.id, verdict, message, detail
    picture = student.picture if check.shown else None
    line = 0 if verdict is Verdict.PASSED else student.line
    return Outcome(*told, round(seconds, 4), counters, speed, student.device, student.cause, picture, line=line)
