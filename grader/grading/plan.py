"""What is graded of each submission, and how; one exercise of one submission as work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from grader.grading.handed_in import as_handed_in
from grader.model import (
    Check,
    Course,
    Exercise,
    GradedCheck,
    GradedExercise,
    Outcome,
    Score,
    Submission,
    Verdict,
)
from grader.model.course import WHOLE
from grader.model.messages import Setup


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run: what is graded of each submission, and how. It is the same for all submissions.

    Attributes:
        course: the course.
        exercises: the exercises of the course that count, in order.
        setup: the set-up of the run.
        handin: the hand-in whose exercises these are, or None.
        runs_untouched: True if an untouched starter is run, for its messages. It earns 0 in any case.
        has_folder: True if the reader of the report has the files in the folder that they were read from.
        rules: the contract lines whose checks are run; none for all. The other checks are reported as left out.
        checks: the ids of the checks that are run, without parameters, in the same way.
        stops: True if everything after the first check that loses points is left out, too.
        compiles: True if a file that is not Python gets one row at once, and no check is run.
        with_tries: True if somebody reads the lines to try: for these, code runs once more for each check that fails.
    """

    course: Course
    exercises: Sequence[Exercise]
    setup: Setup
    handin: str | None = None
    runs_untouched: bool = False
    has_folder: bool = False
    rules: Collection[str] = ()
    checks: Collection[str] = ()
    stops: bool = False
    compiles: bool = False
    with_tries: bool = True

    def to_run(self, submission: Submission) -> list[Exercise]:
        """Return the exercises of the plan whose checks must run for a submission."""
        return [exercise for exercise in self.exercises if not_run(self, exercise, submission) is None]


def not_run(plan: RunPlan, exercise: Exercise, submission: Submission) -> GradedExercise | None:
    """Return the result of an exercise that needs no run of its checks; else None.

    No check runs if a person grades the exercise, or if its file is the untouched starter and `plan.runs_untouched` is
    False. With `plan.compiles`, no check runs for a file that is not Python, either.

    Args:
        plan: the run plan.
        exercise: an exercise of the plan.
        submission: the submission, which has its files.
    """
    if exercise.is_by_staff:
        return _staff_result(exercise, submission)
    if not plan.runs_untouched and submission.files_of(exercise).untouched:
        return as_handed_in(GradedExercise.of_untouched_starter(exercise), submission)
    if plan.compiles and (why := submission.files_of(exercise).error):
        blank = as_handed_in(GradedExercise.of_untouched_starter(exercise), submission)
        check = Check("load", exercise.id, "The file loads", category="error")
        outcome = Outcome(check.id, Verdict.ERROR, why, cause="load")
        row = GradedCheck(check, outcome, Score(0, exercise.points - exercise.withheld.points))
        return replace(blank, state="started", checks=(row,))
    return None


def _staff_result(exercise: Exercise, submission: Submission) -> GradedExercise:
    """Return the result of an exercise that a person grades.

    Its points are undecided if something was handed in.
    """
    own = submission.files_of(exercise)
    blank = as_handed_in(GradedExercise.of_untouched_starter(exercise), submission)
    if own.untouched:
        return blank
    if own.problem or not own.files:
        return replace(blank, handed_in=False)
    rows, worth = tuple(staff_rows(exercise)), exercise.points
    return as_handed_in(GradedExercise(exercise, "started", rows, Score(0, worth, worth)), submission)


BY_STAFF = "a person grades this; the points are not entered yet"
"""The message of a rule whose points staff gives."""


def staff_rows(exercise: Exercise) -> list[GradedCheck]:
    """Return a row with undecided points for each rule that a person grades.

    The person writes the points into overrides.csv.

    Args:
        exercise: the exercise.
    """
    rows = []
    for rule, points in exercise.staff.items():
        title = exercise.title if rule == WHOLE else exercise.contract[rule].split("\n")[0]
        check = Check(rule, exercise.id, title, "" if rule == WHOLE else rule, shown=True)
        outcome = Outcome(rule, Verdict.NOT_RUN, BY_STAFF)
        rows.append(GradedCheck(check, outcome, Score(0, points, points)))
    return rows


@dataclass(frozen=True, eq=False)
class Work:
    """One exercise of one submission that is to be graded.

    Attributes:
        plan: the plan of the run; a cluster takes works of one plan only.
        exercise: the exercise.
        submission: the submission whose files are graded.
        before: the exercise as it was graded before, if only its inconclusive checks are to be repeated.
    """

    plan: RunPlan
    exercise: Exercise
    submission: Submission
    before: GradedExercise | None = None
