"""One check of one student, with a second run where one run decides nothing.

In the second run student code gets copies of the arguments, or the reference takes its place.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from grader.check_process.connections import Connections
from grader.check_process.run_check import PlannedRun
from grader.check_process.verdict import blame_student
from grader.connection.connection import Connection
from grader.model import Outcome, Verdict
from grader.model.endings import CheckFailed

AS_THEY_WERE = "(your code got copies of the arguments here, because it changes one of them)"
"""Below a message of a run in which student code got copies."""

_BY_VALUES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""What a check meets that takes a value for another kind of value."""


Verdicts = dict[tuple[object, ...], Verdict]
"""How checks end with the reference in the student's place, while checks and references stay as they are."""


@dataclass(frozen=True)
class Judge:
    """Runs one check, with the reference in the student's place if needed, and returns its outcome.

    Attributes:
        planned: the check, ready to run.
        student: the connection to the student's code.
        connections: the connections, which open the reference in the student's place.
        verdicts: the verdicts with the reference in the student's place, of this check and others.
    """

    planned: PlannedRun
    student: Connection
    connections: Connections
    verdicts: Verdicts

    def judge(self) -> Outcome:
        """Run the check as often as a decision needs, and return the outcome that counts."""
        outcome, error = self.planned.run(self.student)
        # What student code makes of an argument does not count as expected, unless the check examines that: else
        # `x.zero_(); return x` would make `2 * x` right. Whether it does is seen by the reference that gets copies.
        rests = self.has_reference and self._may_depend_on_mutation(outcome, error)
        if rests and self.run_reference(copying=True) in (Verdict.PASSED, Verdict.INCONCLUSIVE):
            copied, copied_error = self.planned.run(self.student, copying=True)
            # A check that fails, and compares an argument itself, examines whether student code changes it.
            if outcome.verdict is Verdict.PASSED or not self.student.record.watched:
                outcome, error = copied, copied_error
                if copied.message:
                    note = f"\n{AS_THEY_WERE}"
                    outcome = replace(copied, message=copied.message + note, detail=copied.detail + note)
        if outcome.verdict is Verdict.BROKEN and self._is_students_fault(error):
            return blame_student(self.planned.row, outcome, error, self.student.record)
        return outcome

    @property
    def has_reference(self) -> bool:
        """Whether the exercise has a reference, which can take the student's place."""
        return self.planned.row.file.exercise.reference is not None

    def run_reference(self, *, copying: bool = False) -> Verdict:
        """Return the verdict of the check with the reference in the student's place.

        The check runs unless an earlier run has decided this verdict.

        Args:
            copying: True if the reference gets copies of all arguments.
        """
        # A change of arguments does not depend on the inputs.
        key = (
            self.planned.row.check.exercise,
            self.planned.row.check.id,
            "copying" if copying else self.planned.job.seed,
        )
        if key in self.verdicts:
            return self.verdicts[key]
        with closing(self.connections.open_reference(self.planned.row.file.exercise, self.student.device)) as stand_in:
            verdict = self.planned.run(stand_in, copying=copying).outcome.verdict
        if copying or verdict is Verdict.PASSED:  # any other may have been the machine's fault
            self.verdicts[key] = verdict
        return verdict

    def _may_depend_on_mutation(self, outcome: Outcome, error: BaseException | None) -> bool:
        """Return whether an outcome may depend on a mutation that the check does not examine.

        It may if student code mutated an argument, and the check passed, or failed in a comparison of values.
        """
        if not self.student.record.changes or self.student.record.watched:
            return False
        # A failed plain assert may well be about the argument. Only of our own comparisons it is known what they
        # examine.
        by_value = isinstance(error, CheckFailed) and error.by_value
        return outcome.verdict is Verdict.PASSED or (outcome.verdict is Verdict.FAILED and by_value)

    def _is_students_fault(self, error: BaseException | None) -> bool:
        """Return whether a check breaks because of what student code returned.

        The same check with the reference in the student's place, and the same inputs, shows whose fault it is.
        """
        if self.has_reference:
            return self.run_reference() is Verdict.PASSED
        # A student's copy has no reference. Its checks were proved with one, so that an answer which a check cannot
        # take is the likelier fault.
        return bool(self.student.record.called) and isinstance(error, _BY_VALUES)
