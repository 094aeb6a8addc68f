"""One submission → Report: the straight line. Every command that grades calls `grade_submission`, and nothing below.

A submission is graded once. What was inconclusive is graded again, with the first report as `earlier`, when nothing
else of ours runs: `is_open` and `repeats` tell whether that is needed. Whoever seems too slow is inconclusive at first,
and so is confirmed in quiet before it costs a point.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from grader.grading.graded import broken, graded_from
from grader.grading.origin import as_handed_in
from grader.model import (
    Check,
    Course,
    Exercise,
    GradedCheck,
    GradedExercise,
    Outcome,
    Report,
    Score,
    Submission,
    Verdict,
)
from grader.model.messages import Part, Setup
from grader.runner.environment import describe_machine
from grader.runner.lane import Lane, Run

OnCheck = Callable[[Exercise, Outcome], None]
"""Told each outcome of a submission's checks as it comes; of a check that is run again, told again."""

REPEATS = 2
"""How often a check that was inconclusive is repeated."""


@dataclass(frozen=True)
class Sheet:
    """What is to be graded of each submission, and how. The same for all submissions of a run.

    Attributes:
        course: the course.
        exercises: those of it that count, in order.
        setup: how the run is set up.
        handin: the hand-in whose exercises these are, or None.
        runs_untouched: whether a starter that nobody has touched is run, for its messages. It earns 0 in any case.
        has_folder: whether whoever reads the report has the files in the folder that they were read from.
        rules: the contract lines whose checks are run; none for all. The others are left out, and told apart.
        checks: the ids of the checks that are run, likewise.
        stops: whether all that comes after the first check that loses points is left out, too.
        compiles: whether a file that is not Python is told at once, as one row, and no check is asked.
        told: whether somebody reads what to try; to find that out, code is run once more for each check that fails.
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
    told: bool = True

    def to_run(self, submission: Submission) -> list[Exercise]:
        """The exercises of which checks are run: a lane needs their checks alone."""
        begun = (item for item in self.exercises if self.runs_untouched or not is_untouched(item, submission))
        return [item for item in begun if not (self.compiles and item.id in submission.errors)]


def grade_submission(
    sheet: Sheet,
    submission: Submission,
    lane: Lane | None,
    *,
    earlier: Sequence[GradedExercise] | None = None,
    explain: Callable[[GradedExercise], GradedExercise] = lambda graded: graded,
    on_exercise: Callable[[GradedExercise], None] = lambda graded: None,
    on_check: OnCheck = lambda exercise, outcome: None,
) -> Report:
    """Grade a submission.

    Args:
        sheet: what is to be graded, and how.
        submission: who handed in what.
        lane: has the checks of all exercises that are run; None if there are none to run.
        earlier: the same exercises of the same submission as they were graded before: only what was inconclusive is
            run again, with the same inputs, twice at the most. All other lanes are to rest meanwhile.
        explain: gives an exercise of which nothing need be run again with a sentence on its mistake, if there is one.
        on_exercise: told each exercise of which checks were run, once it is graded.
        on_check: told each outcome as it comes.

    Raises:
        StartError: a process of ours cannot be had.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    to_run = {exercise.id for exercise in sheet.to_run(submission)}
    rows: list[GradedExercise] = []
    for place, exercise in enumerate(sheet.exercises):
        before = earlier[place] if earlier is not None else None
        if exercise.id not in to_run:
            graded = _not_run(sheet, exercise, submission)
            if graded.checks and earlier is None:
                on_exercise(graded)
        elif before is not None and not is_open(before):
            graded = before
        else:
            assert lane is not None, "there is something to run"
            task = _Task(sheet, exercise, submission, lane, on_check)
            if sheet.stops and any(map(_lost, rows)):
                graded = graded_from(exercise, lane.checks_of(exercise), [])
            else:
                graded = task.grade() if before is None else task.repeat(before)
            if before is not None or not is_open(graded):
                graded = explain(graded)
            graded = as_handed_in(graded, submission)
            on_exercise(graded)
        rows.append(graded)
    return _report(sheet, submission, lane, rows)


def report_so_far(sheet: Sheet, submission: Submission, lane: Lane | None, done: Sequence[GradedExercise]) -> Report:
    """The report of a submission of which some exercises are graded: what is still to run is undecided."""
    ready = {graded.exercise.id: graded for graded in done}
    to_run = {exercise.id for exercise in sheet.to_run(submission)}
    rows = []
    for exercise in sheet.exercises:
        if exercise.id in ready:
            rows.append(ready[exercise.id])
        elif exercise.id in to_run:
            waits, place = Score(0, exercise.points, exercise.points), submission.places.get(exercise.id)
            rows.append(GradedExercise(exercise, "started", (), waits, place=place))
        else:
            rows.append(_not_run(sheet, exercise, submission))
    return _report(sheet, submission, lane, rows)


def _report(sheet: Sheet, submission: Submission, lane: Lane | None, rows: Sequence[GradedExercise]) -> Report:
    return Report(
        course=sheet.course.title,
        handin=sheet.handin,
        author=submission.author,
        digest=submission.digest,
        graded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        exercises=tuple(rows),
        environment=describe_machine(sheet.setup, lane.reached.level if lane else None),
        authors=tuple(submission.authors),
    )


def grade_at_once(
    sheet: Sheet,
    submission: Submission,
    lane: Lane | None,
    *,
    explain: Callable[[GradedExercise], GradedExercise] = lambda graded: graded,
    on_exercise: Callable[[GradedExercise], None] = lambda graded: None,
    on_check: OnCheck = lambda exercise, outcome: None,
) -> Report:
    """Grade one submission while nothing else of ours runs: what is inconclusive at first is graded again right away.

    Arguments and errors are those of `grade_submission`; each exercise is told once, with what it ends with.
    """

    def on_first(graded: GradedExercise) -> None:
        if not is_open(graded):
            on_exercise(graded)

    first = grade_submission(sheet, submission, lane, explain=explain, on_exercise=on_first, on_check=on_check)
    if not repeats(first):
        return first
    earlier = first.exercises
    return grade_submission(
        sheet, submission, lane, earlier=earlier, explain=explain, on_exercise=on_exercise, on_check=on_check
    )


def repeats(report: Report) -> bool:
    """Whether a check of a report was inconclusive, so that grading it again may tell more."""
    return any(is_open(graded) for graded in report.exercises)


def is_open(graded: GradedExercise) -> bool:
    """The same of one exercise."""
    return any(row.outcome.verdict is Verdict.INCONCLUSIVE for row in graded.checks)


def is_untouched(exercise: Exercise, submission: Submission) -> bool:
    """Whether the submitted file is the starter."""
    return exercise.id in submission.untouched


@dataclass(frozen=True)
class _Task:
    """One exercise of one submission, in a lane."""

    sheet: Sheet
    exercise: Exercise
    submission: Submission
    lane: Lane
    on_check: OnCheck

    def grade(self) -> GradedExercise:
        """Run all checks."""
        exercise = self.exercise
        checks = self.lane.checks_of(exercise)
        if problem := self.lane.collected.problems.get(exercise.id):
            return broken(exercise, problem)
        rules, ids = self.sheet.rules, self.sheet.checks
        wanted = [row for row in checks if (not rules or row.contract in rules) and (not ids or row.id in ids)]
        if missing := self.submission.problems.get(exercise.id):
            outcomes = [Outcome(check.id, Verdict.SKIPPED, missing, cause="load") for check in wanted]
            graded = graded_from(exercise, checks, outcomes)
            return replace(graded, state="not_started", handed_in=False)  # or it could not be read
        files = self.submission.files[exercise.id]
        only = frozenset(check.id for check in wanted) if rules or ids else None
        part = Part(only, stops=self.sheet.stops, told=self.sheet.told)
        run = self._run(files, part)
        return self._finished(graded_from(exercise, checks, run.outcomes, output=run.output))

    def repeat(self, before: GradedExercise) -> GradedExercise:
        """Run what was inconclusive again; everything else stays as it was."""
        files = self.submission.files[self.exercise.id]
        outcomes = [row.outcome for row in before.checks]
        for _ in range(REPEATS):
            open_ = {outcome.check for outcome in outcomes if outcome.verdict is Verdict.INCONCLUSIVE}
            if not open_:
                break
            run = self._run(files, Part(frozenset(open_), again=True))
            again = {outcome.check: outcome for outcome in run.outcomes}
            outcomes = [_later(outcome, again.get(outcome.check)) for outcome in outcomes]
        checks = self.lane.checks_of(self.exercise)
        return self._finished(graded_from(self.exercise, checks, outcomes, output=before.output))

    def _run(self, files: Mapping[str, bytes], part: Part) -> Run:
        hear = partial(self.on_check, self.exercise)
        return self.lane.run(self.exercise, files, self._seed(), self._folder(), part, hear=hear)

    def _finished(self, graded: GradedExercise) -> GradedExercise:
        untouched = self.sheet.runs_untouched and is_untouched(self.exercise, self.submission)
        return graded.not_started() if untouched else graded

    def _seed(self) -> int:
        return self.sheet.setup.seed_of(self.submission.author)

    def _folder(self) -> str:
        """The folder of the student's file, as it is typed from where the student is; "" if it has none."""
        if not self.sheet.has_folder:
            return ""
        return Path(os.path.relpath(self.submission.paths[self.exercise.id].resolve().parent)).as_posix()


def _later(first: Outcome, second: Outcome | None) -> Outcome:
    return first if second is None else replace(second, seconds=round(first.seconds + second.seconds, 4))


def _lost(graded: GradedExercise) -> bool:
    """Whether a check that ran lost points."""
    return any(row.score.earned + row.score.undecided < row.score.possible for row in graded.checks)


def _not_run(sheet: Sheet, exercise: Exercise, submission: Submission) -> GradedExercise:
    """An exercise of which no check is run: nobody has touched it, or its file is not Python."""
    hidden = exercise.withheld.points
    blank = as_handed_in(GradedExercise.untouched(exercise), submission)
    if not sheet.compiles or not (why := submission.errors.get(exercise.id)):
        return blank
    check = Check("load", exercise.id, "The file loads", category="error")
    row = GradedCheck(check, Outcome(check.id, Verdict.SKIPPED, why, cause="load"), Score(0, exercise.points - hidden))
    return replace(blank, state="started", checks=(row,))
