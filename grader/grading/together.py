"""One submission, its exercises in several lanes at once: for whoever waits for the report."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from functools import partial

from grader.grading.diagnose import explainer
from grader.grading.grade import Sheet, grade_submission, is_open, report_so_far
from grader.grading.known import Known
from grader.model import Exercise, GradedExercise, Report, Submission
from grader.runner.lane import Lane
from grader.runner.pool import Pool, cores

_FOR_A_LANE = 5
"""So many exercises are worth the start of one more lane, which takes the processors for a second or two."""

_LOOK_S = 0.5

_Graded = tuple[GradedExercise, Lane, bool]
"""With the lane that it was graded in, and whether that lane's deadline ended it."""


def lanes_for(sheet: Sheet, submission: Submission) -> int:
    """How many lanes are worth while."""
    return 1 if sheet.stops else max(1, min(len(cores()), len(sheet.to_run(submission)) // _FOR_A_LANE))


def grade_together(
    sheet: Sheet,
    submission: Submission,
    pool: Pool,
    known: Known,
    on_exercise: Callable[[GradedExercise], None],
    on_wait: Callable[[int, int], None],
) -> Report:
    """Grade a submission as `grade_at_once` does, each exercise in whichever lane is free.

    Args:
        sheet: what is to be graded, and how.
        submission: who handed in what.
        pool: lanes for the exercises.
        known: how wrong answers behave.
        on_exercise: told each exercise in order; after them what was inconclusive, with what it ends with.
        on_wait: told how many exercises are done, and of how many.

    Raises:
        StartError: a process of ours cannot be had.
        ConfinementError: student code cannot be confined as well as is asked for.
    """

    def grade(lane: Lane, exercise: Exercise, before: GradedExercise | None = None) -> _Graded:
        lane.was_late = False
        earlier = None if before is None else [before]
        explain = explainer(submission, sheet.setup, lane, known)
        one = replace(sheet, exercises=[exercise])
        report = grade_submission(one, submission, lane, earlier=earlier, explain=explain)
        return report.exercises[0], lane, lane.was_late

    to_run = sheet.to_run(submission)
    away = {exercise.id: pool.submit(partial(grade, exercise=exercise)) for exercise in to_run}
    done: dict[str, GradedExercise] = {}
    again: list[tuple[Exercise, GradedExercise | None]] = []
    lane: Lane | None = None
    for exercise in sheet.exercises:
        if exercise.id not in away:
            (graded,) = grade_submission(replace(sheet, exercises=[exercise]), submission, None).exercises
            if graded.checks:
                on_exercise(graded)
            continue
        while not wait([away[exercise.id]], _LOOK_S).done:
            on_wait(sum(future.done() for future in away.values()), len(away))
        graded, lane, late = away[exercise.id].result()
        if late or is_open(graded):
            again.append((exercise, None if late else graded))
            continue
        done[exercise.id] = graded
        on_exercise(graded)
    # One after another: now nothing else of ours runs.
    while again:
        exercise, before = again.pop(0)
        graded, lane, _ = pool.submit(partial(grade, exercise=exercise, before=before)).result()
        if before is None and is_open(graded):
            again.insert(0, (exercise, graded))
            continue
        done[exercise.id] = graded
        on_exercise(graded)
    return report_so_far(sheet, submission, lane, list(done.values()))
