"""What one exercise of one submission came to: outcomes of checks, with the points that the course gives.

Outcomes are saved without points, which come from the course and may change there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.grading.handed_in import as_handed_in
from grader.grading.plan import Work, staff_rows
from grader.model import (
    Check,
    Exercise,
    GradedExercise,
    Mistake,
    Outcome,
    Score,
    Submission,
    Verdict,
)
from grader.model.report import PASSES_HERE
from grader.model.score import hold_back, is_void, score_checks

VOID = "this check is void: everybody gets its points"


@dataclass(frozen=True)
class WorkResult:
    """The result of a work: one exercise of one submission, as it was graded.

    Attributes:
        work: the work that was to be graded.
        graded: the exercise.
        confinement: the level that was reached, in a word; None if no student code was run.
        starved: True if the lane's deadline ended it, and the kernel says that it waited for a core before.
        final: True if nothing of it is repeated later.
        saved: True if an earlier run found it, and nothing was run now.
        id: its number in the store, if it is there.
    """

    work: Work
    graded: GradedExercise
    confinement: str | None = None
    starved: bool = False
    final: bool = True
    saved: bool = False
    id: int | None = None


# -- outcomes and points -----------------------------------------------------------------------------------------------


_KEPT = ("output", "mistakes", "behaviours", "handed_in", "notes")
"""What of a graded exercise is saved as it is."""


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of one exercise of one submission, as they are saved: without points, which come from the course.

    Attributes:
        state: not_started, started, shown_pass or done.
        checks: the checks that ran, in order.
        outcomes: one for each of these checks.
        output: the text that student code printed.
        mistakes: the known mistakes that lost checks show.
        behaviours: see `GradedExercise`.
        handed_in: True if there was a file of the exercise.
        notes: sentences for staff on where the file came from.
    """

    state: str
    checks: tuple[Check, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    output: str = ""
    mistakes: tuple[Mistake, ...] = ()
    behaviours: Mapping[str, str] = field(default_factory=dict)
    handed_in: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, graded: GradedExercise) -> Outcomes:
        """Return the outcomes of a graded exercise, without rows of rules that a person grades."""
        rows = [row for row in graded.checks if row.check.id not in graded.exercise.staff]
        checks, outcomes = (tuple(getattr(row, part) for row in rows) for part in ("check", "outcome"))
        return cls(graded.state, checks, outcomes, **{name: getattr(graded, name) for name in _KEPT})

    def graded(self, exercise: Exercise) -> GradedExercise:
        """Return the graded exercise with the points that the course now defines."""
        graded = GradedExercise.of_untouched_starter(exercise)
        if self.checks or (exercise.is_by_staff and self.state != graded.state):
            graded = graded_from(exercise, self.checks, self.outcomes)
        if self.state == "not_started":
            graded = graded.as_not_started()
        return replace(graded, state=self.state, **{name: getattr(self, name) for name in _KEPT})


def graded_from(
    exercise: Exercise, checks: Sequence[Check], outcomes: Sequence[Outcome], output: str = ""
) -> GradedExercise:
    """Return an exercise with the points of its outcomes.

    Its `left_out` lists the checks that have no outcome.

    Args:
        exercise: the exercise that was graded.
        checks: all its checks.
        outcomes: the outcomes of the checks that ran.
        output: the text that student code printed while it was loaded.
    """
    ran = {outcome.check: outcome for outcome in outcomes}
    # Points are divided among all checks, whichever ran: those of a check are the same every time.
    every = [ran.get(check.id) or Outcome(check.id, Verdict.NOT_RUN) for check in checks]
    by_checks = exercise.points - sum(exercise.staff.values())
    rows, withheld = score_checks(by_checks, checks, every, exercise.withheld.shares)
    # A void check says nothing: neither that a value is right, nor that it is wrong.
    void = {
        row.check.id: replace(row, score=Score(row.score.possible, row.score.possible), set_by=VOID)
        for row in rows
        if is_void(row.check.id, exercise.void)
    }
    judged = [row for row in rows if row.check.id not in void]
    judged, held_by = hold_back(judged, exercise.values, exercise.caps, withheld=exercise.withheld.checks > 0)
    by_id = {row.check.id: row for row in judged} | void
    rows = [by_id[row.check.id] for row in rows]
    total = sum((row.score for row in rows), Score(0, 0)) + Score(0, withheld, withheld)
    left_out = tuple(row for row in rows if row.check.id not in ran)
    rows = [row for row in rows if row.check.id in ran]
    verdicts = {row.verdict for row in rows}
    by_staff = staff_rows(exercise)
    total += sum((row.score for row in by_staff), Score(0, 0))
    # Of what is broken nobody knows; what needs hardware that is not here is nothing that the student could do.
    all_passed = not left_out and Verdict.PASSED in verdicts and verdicts <= {Verdict.PASSED, Verdict.NOT_RUN}
    full = PASSES_HERE if exercise.withheld.checks else "done"
    state = full if all_passed else "started"
    rows += by_staff
    return GradedExercise(exercise, state, tuple(rows), total, withheld, output, left_out=left_out, held_by=held_by)


def graded_so_far(
    exercise: Exercise, submission: Submission, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> GradedExercise:
    """Return the result of an exercise while it is being graded.

    The points of checks that have not ended are undecided.

    Args:
        exercise: the exercise that is being graded.
        submission: the submission, which has its files.
        checks: all its checks.
        outcomes: the outcomes of the checks that have ended.
    """
    graded = graded_from(exercise, checks, outcomes)
    return as_handed_in(replace(graded, state="started", left_out=()), submission)


def unreadable_checks_result(exercise: Exercise, problem: str) -> GradedExercise:
    """Return the result of an exercise whose check files cannot be collected.

    It has one broken check, which costs the student nothing.
    """
    check = Check("collection", exercise.id, "The checks of this exercise can be read", category="error")
    return _our_fault(exercise, check, "the checks of this exercise are broken", problem)


def lost_machine_result(exercise: Exercise, why: str) -> GradedExercise:
    """Return the result of an exercise that no machine could grade.

    It has one broken check, which costs the student nothing.
    """
    check = Check("machine", exercise.id, "A machine grades this exercise", category="error")
    return _our_fault(exercise, check, "the machines that graded this exercise were lost", why)


def _our_fault(exercise: Exercise, check: Check, what: str, detail: str) -> GradedExercise:
    message = f"{what}; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, detail)])


def is_inconclusive(graded: GradedExercise) -> bool:
    """Return whether a check was inconclusive; a repetition may decide it."""
    return any(row.verdict is Verdict.INCONCLUSIVE for row in graded.checks)


def is_broken(graded: GradedExercise) -> bool:
    """Return whether the exercise has a broken check whose points staff has not decided."""
    return any(row.verdict is Verdict.BROKEN for row in graded.checks)


def has_lost_points(graded: GradedExercise) -> bool:
    """Return whether a check that ran lost points."""
    return any(row.score.earned + row.score.undecided < row.score.possible for row in graded.checks)
