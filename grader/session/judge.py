"""A check is run; where that decides nothing, once more: student code gets copies, or the reference takes its place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from grader.connection.connection import Connection
from grader.model import Check, Picture, Verdict
from grader.model.endings import CheckFailed
from grader.session.decide import Decision, Ended, Telling, blame

AS_THEY_WERE = "(your code got copies of the arguments here, because it changes one of them)"
"""Below a message of a run in which student code got copies."""

_BY_VALUES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""What a check meets that takes a value for another kind of value."""


@dataclass(frozen=True)
class Run:
    """One run of a check.

    Attributes:
        ended: how it ended.
        decision: what becomes of it.
        cause: what ended it, as one of `CAUSES`, or "".
        picture: the facts of a picture of that, or None.
    """

    ended: Ended
    decision: Decision
    cause: str
    picture: Picture | None


Attempt = Callable[..., Run]
"""Runs the check once with a connection as the student's.

With `copying` its code gets copies of all arguments, with `rewrite` what that makes of them.
"""

Verdicts = dict[tuple[object, ...], Verdict]
"""How checks end with the reference in the student's place, while checks and references stay as they are."""


@dataclass(frozen=True)
class Judge:
    """One check and what it takes to run it.

    Attributes:
        check: the check.
        attempt: runs it.
        stand_in: the reference in the student's place, in a worker of its own; None if there is no reference.
        telling: what the student reads besides.
        verdicts: those with the reference in the student's place, of this check and others.
        seed: of the inputs.
        retyped: without a reference, whether it passes the check with arguments made anew from their text.
    """

    check: Check
    attempt: Attempt
    stand_in: Callable[[], Connection] | None
    telling: Telling
    verdicts: Verdicts
    seed: int
    retyped: bool

    def judge(self, student: Connection) -> Run:
        """The run that counts for this student."""
        run = self.attempt(student)
        # What student code makes of an argument does not count as expected, unless the check examines that: else
        # `x.zero_(); return x` would make `2 * x` right. Whether it does is seen by the reference that gets copies.
        rests = self.stand_in is not None and _may_rest_on_changes(student, run)
        if rests and self.of_reference(copying=True) in (Verdict.PASSED, Verdict.INCONCLUSIVE):
            copied = self.attempt(student, copying=True)
            # A check that fails, and compares an argument itself, examines whether student code changes it.
            if run.decision.verdict is Verdict.PASSED or not student.record.watched:
                verdict, message, detail = copied.decision
                note = f"\n{AS_THEY_WERE}"
                run = replace(copied, decision=Decision(verdict, message and message + note, detail and detail + note))
        if run.decision.verdict is Verdict.BROKEN and self._is_students_fault(student, run):
            return replace(run, decision=blame(self.check, run.ended, run.decision.detail, self.telling))
        return run

    def of_reference(self, **how: Any) -> Verdict:
        """How the check ends with the reference in the student's place, attempted in this way."""
        assert self.stand_in is not None
        # A change of arguments does not depend on the inputs.
        key = self.check.exercise, self.check.id, *(how or [self.seed])
        if key in self.verdicts:
            return self.verdicts[key]
        with closing(self.stand_in()) as stand_in:
            verdict = self.attempt(stand_in, **how).decision.verdict
        if how or verdict is Verdict.PASSED:  # any other may have been the machine's fault
            self.verdicts[key] = verdict
        return verdict

    def _is_students_fault(self, student: Connection, run: Run) -> bool:
        """Whether a check breaks by what student code returned: no submission can choose to be undecided.

        The same check with the reference in the student's place, and the same inputs, shows whose fault it is.
        """
        if self.stand_in is not None:
            return self.of_reference() is Verdict.PASSED
        # A student's copy has no reference. Its checks were proved with one, so that an answer which a check cannot
        # take is the likelier fault.
        return bool(student.record.called) and isinstance(run.ended.error, _BY_VALUES)


def _may_rest_on_changes(student: Connection, run: Run) -> bool:
    """Whether student code changed an argument that the check does not examine, so that it may rest on that."""
    if not student.record.changes or student.record.watched:
        return False
    # A failed plain assert may well be about the argument. Only of our own comparisons it is known what they examine.
    error, verdict = run.ended.error, run.decision.verdict
    by_value = isinstance(error, CheckFailed) and error.by_value
    return verdict is Verdict.PASSED or (verdict is Verdict.FAILED and by_value)
