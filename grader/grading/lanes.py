"""A lane grades an exercise: it runs the exercise's checks; they are scored, and failures explained."""

from __future__ import annotations

import os
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from grader.grading.callers import with_callees_named
from grader.grading.diagnosis import KnownMistakes, diagnose
from grader.grading.handed_in import as_handed_in
from grader.grading.outcomes import WorkResult, graded_from, is_inconclusive, unreadable_checks_result
from grader.grading.plan import RunPlan, Work
from grader.model import DeviceKind, GradedExercise, Outcome, Submission, Verdict
from grader.model.messages import CheckSelection, Level, Setup, Start
from grader.model.progress import Progress
from grader.runner.lane import JobResult, Lane
from grader.runner.pool import usable_cores
from grader.runner.worker_source import CAN_FORK

REPEATS = 2
"""How often a check that was inconclusive is repeated."""

_FOR_A_LANE = 5
"""So many exercises are worth the start of one more lane, which takes the processors for a second or two."""


def setup_of(start: str | None = None, device: str = "sim", confinement: str = "none", seed: int = 0) -> Setup:
    """Return the set-up of a run for options of the command line.

    By default, workers are forked on a system that can fork. With the device "cuda" they are spawned, as a forked
    process cannot use CUDA.

    Args:
        start: the way in which workers start, "fork" or "spawn"; None for the default.
        device: the device that checks see.
        confinement: the lowest level of confinement that the run accepts, such as "full".
        seed: the seed of the inputs.
    """
    accelerator = DeviceKind(device)
    own = Start.FORK if CAN_FORK and accelerator is not DeviceKind.CUDA else Start.SPAWN
    return Setup(Start(start) if start else own, accelerator=accelerator, least=Level.of(confinement), seed=seed)


class Executor(Protocol):
    """An object that grades works: lanes of this machine, or a cluster."""

    @property
    def progress(self) -> Progress:
        """Return the `Progress` that the run reports to."""

    @property
    def slots(self) -> int:
        """Return how many works are graded at the same time."""

    def submit(self, work: Work) -> Future[WorkResult]:
        """Submit one exercise to be graded; return a future of its result.

        If the exercise cannot be graded, the future raises the error that prevented it.
        """


def lanes_here() -> int:
    """Return the number of lanes that this machine can run at once: its usable cores."""
    return len(usable_cores())


def lanes_for(plan: RunPlan, submission: Submission) -> int:
    """Return how many lanes to start for one submission.

    It is one for each five exercises that must run, such as 2 for 12 exercises; at least one, and at most one for each
    core. With `plan.stops` it is one.
    """
    return 1 if plan.stops else max(1, min(lanes_here(), len(plan.to_run(submission)) // _FOR_A_LANE))


def grade_exercise(work: Work, lane: Lane, known: KnownMistakes | None) -> WorkResult:
    """Grade one exercise of one submission.

    Args:
        work: the exercise and the submission.
        lane: a lane that has collected the exercise's checks.
        known: the behaviour of known wrong answers; None if nobody wants a diagnosis.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    plan, exercise, submission = work.plan, work.exercise, work.submission
    problem = lane.collected.problems.get(exercise.id)
    graded, starved = (unreadable_checks_result(exercise, problem), False) if problem else _run_checks(work, lane)
    if plan.runs_untouched and submission.files_of(exercise).untouched:
        graded = graded.as_not_started()
    if plan.with_tries:
        graded = with_callees_named(graded, submission.files_of(exercise).files)
    # What is inconclusive at first is explained when it has been repeated.
    if known is not None and (work.before is not None or not is_inconclusive(graded)):
        diagnosed = diagnose(graded, submission, plan.setup, lane, known)
        graded, starved = diagnosed.graded, starved or diagnosed.starved
    confinement = lane.reached.level.word if submission.files_of(exercise).files else None
    return WorkResult(work, as_handed_in(graded, submission), confinement, starved)


def _run_checks(work: Work, lane: Lane) -> tuple[GradedExercise, bool]:
    """Run the wanted checks of a work, and return the graded exercise.

    These are the checks that were inconclusive before, if the work repeats them; else those that the plan names, or
    all.

    Returns:
        The exercise, and whether a run was starved of a core.
    """
    plan, exercise, before = work.plan, work.exercise, work.before
    checks = lane.checks_of(exercise)
    if before is not None:
        outcomes, starved = _repeat_inconclusive(work, before, lane)
        return graded_from(exercise, checks, outcomes, output=before.output), starved
    wanted = [check.id for check in checks if not plan.rules or check.contract in plan.rules]
    wanted = [id for id in wanted if not plan.checks or id.split("[")[0] in plan.checks]
    if why := work.submission.files_of(exercise).problem:  # there is no file of the exercise, or it cannot be read
        outcomes = [Outcome(id, Verdict.ERROR, why, cause="load") for id in wanted]
        return replace(graded_from(exercise, checks, outcomes).as_not_started(), handed_in=False), False
    only = frozenset(wanted) if plan.rules or plan.checks else None
    run = _run_selection(work, lane, CheckSelection(only, stops=plan.stops, with_tries=plan.with_tries))
    return graded_from(exercise, checks, run.outcomes, output=run.output), run.starved


def _repeat_inconclusive(work: Work, before: GradedExercise, lane: Lane) -> tuple[list[Outcome], bool]:
    """Run the inconclusive checks again, with the same inputs.

    Returns:
        The outcomes of all checks, the new ones and the others unchanged; and whether a run was starved of a core.
    """
    starved = False
    outcomes = {row.check.id: row.outcome for row in before.checks}
    for _ in range(REPEATS):
        undecided = frozenset(id for id, outcome in outcomes.items() if outcome.verdict is Verdict.INCONCLUSIVE)
        if not undecided:
            break
        run = _run_selection(work, lane, CheckSelection(undecided, again=True))
        starved |= run.starved
        for again in run.outcomes:
            seconds = outcomes[again.check].seconds + again.seconds
            outcomes[again.check] = replace(again, seconds=round(seconds, 4))
    return list(outcomes.values()), starved


def _run_selection(work: Work, lane: Lane, selection: CheckSelection) -> JobResult:
    """Run a selection of the checks of a work in a lane, and return their outcomes."""
    exercise, own = work.exercise, work.submission.files_of(work.exercise)
    folder = ""
    if work.plan.has_folder and own.path is not None:  # as the student types it from where they are
        folder = Path(os.path.relpath(own.path.resolve().parent)).as_posix()
    return lane.run(exercise, own.files, work.plan.setup.seed_of(work.submission.author), folder, selection)
