"""Lanes of this machine grade exercises: a lane runs an exercise's checks; they are scored, and failures explained."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from grader.grading.diagnosis import Known, diagnose
from grader.grading.plan import Finished, RunPlan, Work, as_handed_in, broken, graded_from, is_inconclusive, lost_points
from grader.model import Check, Device, Exercise, GradedExercise, Outcome, Submission, Verdict
from grader.model.errors import CourseError
from grader.model.messages import Collected, Level, Part, Setup, Start
from grader.runner.lane import Lane, Run, Watch
from grader.runner.pool import Pool, cores, open_pool
from grader.runner.source import CAN_FORK

Hear = Callable[[Exercise, Outcome, Sequence[Check]], None]
"""Receives each outcome as it comes, with all checks of its exercise, and once more if it is repeated."""

Answer = TypeVar("Answer")

REPEATS = 2
"""How often a check that was inconclusive is repeated."""

_FOR_A_LANE = 5
"""So many exercises are worth the start of one more lane, which takes the processors for a second or two."""


def setup_of(start: str | None = None, device: str = "sim", confinement: str = "none", seed: int = 0) -> Setup:
    """The setup that words of the command line mean; by default workers start as this system allows.

    A process that was forked cannot use CUDA.
    """
    accelerator = Device(device)
    own = Start.FORK if CAN_FORK and accelerator is not Device.CUDA else Start.SPAWN
    return Setup(Start(start) if start else own, accelerator=accelerator, least=Level.of(confinement), seed=seed)


class Engine(Protocol):
    """Grades work: lanes of this machine, or a cluster."""

    @property
    def slots(self) -> int:
        """How many works are graded at once at present."""

    def submit(self, work: Work) -> Future[Finished]:
        """Have one exercise graded. The future raises what kept it from being graded."""


class Lanes:
    """Lanes of this machine; see `open_lanes`.

    Attributes:
        slots: how many there are.
        known: how known wrong answers behave; None if nothing is diagnosed.
        hear: receives each outcome of a check as it comes, in the lane's thread.
    """

    def __init__(self, pool: Pool, known: Known | None, *, strict: bool = False) -> None:
        self.slots = pool.slots
        self.known = known
        self.hear: Hear = lambda *_: None
        self._pool = pool
        self._strict = strict
        self._stopped: Submission | None = None
        self._changed: Sequence[Exercise] | None = None

    def submit(self, work: Work) -> Future[Finished]:
        """Have one exercise graded in the next free lane."""
        return self.ask(partial(self._grade, work))

    def ask(self, job: Callable[[Lane], Answer]) -> Future[Answer]:
        """Have something done in the next free lane, where the checks are those of their files now."""

        def done(lane: Lane) -> Answer:
            if self._changed is not None and lane.exercises is not self._changed:
                lane.collect_anew(self._changed)
            return job(lane)

        return self._pool.submit(done)

    def warm_up(self) -> None:
        """Start all lanes now, so that nothing waits for them later."""
        for _ in range(self.slots):
            self.ask(lambda lane: lane.collected)

    def collected(self) -> Collected:
        """The checks of all exercises, as their files are now."""
        return self.ask(lambda lane: lane.collected).result()

    def checks_of(self, exercise: Exercise) -> list[Check]:
        """The checks of one exercise."""
        return [check for check in self.collected().checks if check.exercise == exercise.id]

    def run(self, exercise: Exercise, files: Mapping[str, bytes], seed: int, part: Part) -> Run:
        """What a part of an exercise's checks says of files that are not graded."""
        return self.ask(lambda lane: lane.run(exercise, files, seed, part=part)).result()

    def files_changed(self, exercises: Sequence[Exercise]) -> None:
        """Have each lane collect the checks again before its next work: their files may have changed."""
        self._changed = exercises

    def _grade(self, work: Work, lane: Lane) -> Finished:
        problems = lane.collected.problems
        if self._strict and problems:
            last = {id: problem.strip().splitlines()[-1].removeprefix("E").strip() for id, problem in problems.items()}
            remedy = "fix them (grade verify shows the line), then run the same command again"
            raise CourseError(*(f"{id}: its checks cannot be read ({why}); {remedy}" for id, why in last.items()))
        if self._stopped is work.submission:
            return Finished(work, graded_from(work.exercise, lane.checks_of(work.exercise), []))
        result = grade_exercise(work, lane, self.known, self.hear)
        if work.plan.stops and lost_points(result.graded):
            self._stopped = work.submission
        return result


@contextmanager
def open_lanes(
    exercises: Sequence[Exercise],
    setup: Setup,
    slots: int = 1,
    *,
    hidden: Sequence[Path] = (),
    known: Known | None = None,
    watch: Watch | None = None,
    strict: bool = False,
) -> Iterator[Lanes]:
    """Lanes for exercises. Nothing is started before there is work.

    Args:
        exercises: whose checks the lanes collect.
        setup: of the run.
        slots: how many lanes.
        hidden: folders that student code may not see, besides those of the course.
        known: how known wrong answers behave; None if nothing is diagnosed.
        strict: whether nothing is graded if the checks of an exercise cannot be read: works raise a `CourseError`.
        watch: receives what a lane waits for, by its title, and for how many seconds; it may raise.
    """
    with open_pool(exercises, setup, slots, hidden) as pool:
        if watch is not None:
            pool.watch = watch
        yield Lanes(pool, known, strict=strict)


def lanes_here() -> int:
    """How many lanes this machine has cores for."""
    return len(cores())


def lanes_for(plan: RunPlan, submission: Submission) -> int:
    """How many lanes are worth their start for one submission."""
    return 1 if plan.stops else max(1, min(lanes_here(), len(plan.to_run(submission)) // _FOR_A_LANE))


def grade_exercise(work: Work, lane: Lane, known: Known | None, hear: Hear = lambda *_: None) -> Finished:
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
    problem = lane.collected.problems.get(exercise.id)
    graded = broken(exercise, problem) if problem else _run_checks(work, lane, hear)
    if plan.runs_untouched and submission.of(exercise).untouched:
        graded = graded.not_started()
    # What is inconclusive at first is explained when it has been repeated.
    if known is not None and (work.before is not None or not is_inconclusive(graded)):
        graded = diagnose(graded, submission, plan.setup, lane, known)
    confinement = lane.reached.level.word if submission.of(exercise).files else None
    return Finished(work, as_handed_in(graded, submission), confinement, lane.was_late)


def _run_checks(work: Work, lane: Lane, hear: Hear) -> GradedExercise:
    """Run the checks that the plan names by themselves or by their rule; without names, all; or repeat some of them."""
    plan, exercise, before = work.plan, work.exercise, work.before
    checks = lane.checks_of(exercise)
    if before is not None:
        return graded_from(exercise, checks, _repeated(work, before, lane, hear), output=before.output)
    wanted = [check.id for check in checks if not plan.rules or check.contract in plan.rules]
    wanted = [id for id in wanted if not plan.checks or id.split("[")[0] in plan.checks]
    if why := work.submission.of(exercise).problem:  # there is no file of the exercise, or it cannot be read
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
    exercise, own = work.exercise, work.submission.of(work.exercise)
    folder = ""
    if work.plan.has_folder and own.path is not None:  # as the student types it from where they are
        folder = Path(os.path.relpath(own.path.resolve().parent)).as_posix()
    seed, checks = work.plan.setup.seed_of(work.submission.author), lane.checks_of(exercise)
    return lane.run(exercise, own.files, seed, folder, part, hear=lambda outcome: hear(exercise, outcome, checks))
