"""A check is run; where that cannot tell, once more: student code gets copies, or the reference is in its place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from grader.model import Check, Verdict
from grader.model.endings import CheckFailed
from grader.remote import asked
from grader.remote.side import Side
from grader.session.decide import Decision, Ended, Telling, blame
from grader.session.outcome import judged_by_copies

_BY_VALUES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""What a check meets that takes a value for another kind of value."""


class Attempt(Protocol):
    """Runs the check, with this side in the student's place."""

    def __call__(self, side: Side, *, copying: bool = False) -> tuple[Ended, Decision]:
        """Run it once; with `copying` its code is given copies of all arguments."""
        ...


@dataclass(frozen=True)
class Known:
    """What was found out with the reference in the student's place, while checks and references stay as they are.

    Attributes:
        wants_changes: by exercise and check, whether it fails for a reference that is given copies.
        passes: exercise, check and seed of inputs, with which it passes.
    """

    wants_changes: dict[tuple[str, str], bool] = field(default_factory=dict)
    passes: set[tuple[str, str, int]] = field(default_factory=set)


@dataclass(frozen=True)
class Runs:
    """One check and what it takes to run it.

    Attributes:
        check: the check.
        attempt: runs it.
        stand_in: gives the reference in the student's place; None where there is no reference.
        telling: what the student is told besides.
        known: what was found out about checks with the reference in the student's place.
        seed: of the inputs.
    """

    check: Check
    attempt: Attempt
    stand_in: Callable[[], AbstractContextManager[Side]] | None
    telling: Telling
    known: Known
    seed: int

    def judge(self, student: Side) -> Decision:
        """What becomes of the check for this student."""
        ended, decision = self.attempt(student)
        if _has_changed(student, decision[0]) and self._works_with_copies():
            ended, decision = self._with_copies(student, ended, decision)
        return self._blamed(student, ended, decision)

    def _works_with_copies(self) -> bool:
        """Whether the check passes for the reference with copies as well: it asks for no argument to be changed."""
        if self.stand_in is None:
            return False
        key = self.check.exercise, self.check.id
        if key not in self.known.wants_changes:
            with self.stand_in() as stand_in:
                _, (verdict, _, _) = self.attempt(stand_in, copying=True)
            self.known.wants_changes[key] = verdict not in (Verdict.PASSED, Verdict.INCONCLUSIVE)
        return not self.known.wants_changes[key]

    def _with_copies(self, student: Side, ended: Ended, decision: Decision) -> tuple[Ended, Decision]:
        """The run that counts, of one with the arguments themselves and one with copies."""
        # A plain assert may well be about the argument: it must be kept. Only of our own comparisons it is known what
        # they look at.
        rescued = isinstance(ended.error, CheckFailed) and ended.error.by_value
        if decision[0] is Verdict.FAILED and not rescued:
            return ended, decision
        again, second = self.attempt(student, copying=True)
        if decision[0] is Verdict.FAILED and asked.compares_withheld():
            return ended, decision
        return again, judged_by_copies(second)

    def _blamed(self, student: Side, ended: Ended, decision: Decision) -> Decision:
        """A check that breaks by what a student's code gave back is that answer's fault, not ours.

        Nobody can choose to be undecided. The same check with the reference in the student's place tells the two apart.
        """
        if decision[0] is not Verdict.BROKEN:
            return decision
        if self.stand_in is None:
            # A student's copy has no reference. Its checks were proved with one, so that an answer which a check cannot
            # take is the likelier fault.
            theirs = bool(student.calls) and isinstance(ended.error, _BY_VALUES)
        else:
            theirs = self._passes_for_reference()
        return blame(self.check, ended, decision[2], self.telling) if theirs else decision

    def _passes_for_reference(self) -> bool:
        """Whether the check passes with the reference in the student's place, and the same inputs."""
        assert self.stand_in is not None
        key = self.check.exercise, self.check.id, self.seed
        if key in self.known.passes:
            return True
        with self.stand_in() as stand_in:
            passes = self.attempt(stand_in)[1][0] is Verdict.PASSED
        if passes:  # what fails may have been the machine's fault
            self.known.passes.add(key)
        return passes


def _has_changed(student: Side, verdict: Verdict) -> bool:
    """Whether student code has changed an argument that the check does not ask for, so that it may rest on that."""
    wanted = asked.asked_for()
    # One that asks looks at what was made of its arguments. Where it fails, copies could not show that.
    decided = verdict is Verdict.PASSED or (verdict is Verdict.FAILED and not wanted)
    return decided and student.exchange.overwrote_other_than(wanted)
