"""One exercise of one submission, in a lane: run its checks, score them, explain what failed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from grader.grading.diagnosis import Known, diagnose
from grader.grading.outcomes import as_handed_in, broken, graded_from, is_inconclusive
from grader.grading.plan import Result, Work
from grader.model import Check, Exercise, GradedExercise, Outcome, Verdict
from grader.model.messages import Part
from grader.runner.lane import Lane, Run

Hear = Callable[[Exercise, Outcome, Sequence[Check]], None]
"""Receives each outcome as it comes, with all checks of its exercise, and once more if it is repeated."""

REPEATS = 2
"""How often a check that was inconclusive is repeated."""


def grade_exercise(
    work: Work, lane: Lane, known: Known | None, hear: Hear = lambda exercise, outcome, checks: None
) -> Result:
    """Grade one exercise of one submission.

    Args:
        work: the exercise and the submission.
        lane: has the exercise's checks.
        known: how known wrong answers behave; None if nobody wants a diagnosis.
        hear: receives each outcome as it comes.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    plan, exercise, submission = work.plan, work.exercise, work.submission
    lane.was_late = False
    if problem := lane.collected.problems.get(exercise.id):
        graded = broken(exercise, problem)
    else:
        graded = _run_checks(work, lane, hear)
    if plan.runs_untouched and exercise.id in submission.untouched:
        graded = graded.not_started()
    # What is inconclusive at first is explained when it has been repeated.
    if known is not None and (work.before is not None or not is_inconclusive(graded)):
        graded = diagnose(graded, submission, plan.setup, lane, known)
    confinement = lane.reached.level.word if submission.files.get(exercise.id) else None
    return Result(as_handed_in(graded, submission), confinement, lane.was_late)


def _run_checks(work: Work, lane: Lane, hear: Hear) -> GradedExercise:
    """Run the checks that the plan names by themselves or by their rule; without names, all; or repeat some of them."""
    plan, exercise, before = work.plan, work.exercise, work.before
    checks = lane.checks_of(exercise)
    if before is not None:
        return graded_from(exercise, checks, _repeated(work, before, lane, hear), output=before.output)
    wanted = [
        check.id
        for check in checks
        if (not plan.rules or check.contract in plan.rules) and (not plan.checks or check.id in plan.checks)
    ]
    if why := work.submission.problems.get(exercise.id):  # there is no file of the exercise, or it cannot be read
        outcomes = [Outcome(id, Verdict.ERROR, why, cause="load") for id in wanted]
        return replace(graded_from(exercise, checks, outcomes), state="not_started", handed_in=False)
    only = frozenset(wanted) if plan.rules or plan.checks else None
    run = _run(work, lane, Part(only, stops=plan.stops, with_tries=plan.with_tries), hear)
    return graded_from(exercise, checks, run.outcomes, output=run.output)


def _repeated(work: Work, before: GradedExercise, lane: Lane, hear: Hear) -> list[Outcome]:
    """The outcomes after what was inconclusive ran again, with the same inputs; all others stay as they were."""
    outcomes = {row.check.id: row.outcome for row in before.checks}
    for _ in range(REPEATS):
        undecided = frozenset(id for id, outcome in outcomes.items() if outcome.verdict is Verdict.INCONCLUSIVE)
        if not undecided:
            break
        for again in _run(work, lane, Part(undecided, again=True), hear).outcomes:
            seconds = outcomes[again.check].seconds + again.seconds
            outcomes[again.check] = replace(again, seconds=round(seconds, 4))
    return list(outcomes.values())


def _run(work: Work, lane: Lane, part: Part, hear: Hear) -> Run:
    """The one place where grading has student code run."""
    exercise, submission = work.exercise, work.submission
    folder = ""
    if work.plan.has_folder:  # as the student types it from where they are
        folder = Path(os.path.relpath(submission.paths[exercise.id].resolve().parent)).as_posix()
    seed = work.plan.setup.seed_of(submission.author)
    checks, files = lane.checks_of(exercise), submission.files[exercise.id]
    return lane.run(exercise, files, seed, folder, part, hear=lambda outcome: hear(exercise, outcome, checks))
