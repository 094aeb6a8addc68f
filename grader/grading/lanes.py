"""Lanes of this machine that grade: work goes in, results come out."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from grader.grading.behaviour import Trace
from grader.grading.diagnosis import Known, diagnose, traces_in
from grader.grading.exercise import Hear, grade_exercise
from grader.grading.outcomes import graded_from, lost_points
from grader.grading.plan import Result, RunPlan, Work
from grader.model import Check, Device, Exercise, GradedExercise, Submission
from grader.model.errors import CourseError
from grader.model.messages import Collected, Level, Part, Setup, Start
from grader.runner.lane import Lane, Run, Watch
from grader.runner.pool import Pool, cores, open_pool
from grader.runner.source import CAN_FORK

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

    def submit(self, work: Work) -> Future[Result]:
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
        self.hear: Hear = lambda exercise, outcome, checks: None
        self._pool = pool
        self._strict = strict
        self._stopped: Submission | None = None
        self._changed: Sequence[Exercise] | None = None
        self._collected: weakref.WeakKeyDictionary[Lane, Sequence[Exercise]] = weakref.WeakKeyDictionary()

    def submit(self, work: Work) -> Future[Result]:
        """Have one exercise graded in the next free lane."""
        return self._pool.submit(partial(self._grade, work))

    def explain(self, work: Work, graded: GradedExercise, known: Known) -> GradedExercise:
        """The exercise with a diagnosis, for whoever shows the verdict before."""
        setup = work.plan.setup
        return self._pool.submit(lambda lane: diagnose(graded, work.submission, setup, lane, known)).result()

    def warm_up(self) -> None:
        """Start all lanes now, so that nothing waits for them later."""
        for _ in range(self.slots):
            self._pool.submit(self._collect)

    def collected(self) -> Collected:
        """The checks of all exercises, as their files are now."""
        return self._pool.submit(self._collect).result()

    def checks_of(self, exercise: Exercise) -> list[Check]:
        """The checks of one exercise."""
        return [check for check in self.collected().checks if check.exercise == exercise.id]

    def run(self, exercise: Exercise, files: Mapping[str, bytes], seed: int, part: Part) -> Run:
        """What a part of an exercise's checks says of files that are not graded."""
        return self._pool.submit(lambda lane: lane.run(exercise, files, seed, part=part)).result()

    def traces(
        self, exercise: Exercise, files: Mapping[str, bytes], seed: int, checks: Collection[str]
    ) -> dict[str, Trace]:
        """The same as traces, which can be compared."""
        return self._pool.submit(lambda lane: traces_in(lane, exercise, files, seed, checks)).result()

    def files_changed(self, exercises: Sequence[Exercise]) -> None:
        """Have each lane collect the checks again before its next work: their files may have changed."""
        self._changed = exercises

    def _collect(self, lane: Lane) -> Collected:
        if self._changed is not None and self._collected.get(lane) is not self._changed:
            lane.collect_anew(self._changed)
            self._collected[lane] = self._changed
        return lane.collected

    def _grade(self, work: Work, lane: Lane) -> Result:
        problems = self._collect(lane).problems
        if self._strict and problems:
            last = {id: problem.strip().splitlines()[-1].removeprefix("E").strip() for id, problem in problems.items()}
            remedy = "fix them (grade verify shows the line), then run the same command again"
            raise CourseError(*(f"{id}: its checks cannot be read ({why}); {remedy}" for id, why in last.items()))
        if self._stopped is work.submission:
            return Result(graded_from(work.exercise, lane.checks_of(work.exercise), []))
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
