"""The processes of one run: the one object that owns them all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import grade_exercise
from grader.grading.outcomes import WorkResult, graded_from, has_lost_points
from grader.grading.plan import Work
from grader.model import Check, DeviceKind, Exercise, Submission
from grader.model.errors import CourseError, StartError
from grader.model.messages import CheckSelection, Collected, Setup, Start
from grader.model.progress import Cancel, Progress
from grader.runner.compiled import compile_once
from grader.runner.lane import JobResult, Lane
from grader.runner.open_source import open_worker_source
from grader.runner.pool import LanePool
from grader.runner.promises import SandboxPlan
from grader.runner.worker_source import WorkerSource
from grader.runner.zygote_client import Zygote, open_zygote

T = TypeVar("T")

_FEW = 4
"""Exercises of a run that a student waits for."""


@dataclass(frozen=True)
class Processes:
    """The functions by which a runtime opens its processes.

    Attributes:
        zygote: opens what worker servers and check processes are forked from.
        source: opens where workers come from; the zygote is None where they are fresh interpreters.
        lane: opens a lane, of exercises, source, number and accelerator.
    """

    zygote: Callable[..., Zygote] = open_zygote
    source: Callable[[Start, SandboxPlan, Zygote | None], WorkerSource] = open_worker_source
    lane: Callable[[Sequence[Exercise], WorkerSource, int, DeviceKind], Lane] = Lane


class Runtime:
    """The processes of one run: a caller that grades opens a runtime with `with`, and starts no other process of ours.

    It owns the zygote, where workers come from, the lanes, what they share (known wrong answers), and the token that
    cancels.
    Nothing is started before there is work. At the end of `with` all processes end; what still waits or runs then is
    cancelled.

    Args:
        exercises: the exercises whose checks the lanes collect.
        setup: the set-up of the run.
        slots: the largest number of lanes.
        hidden: folders that student code may not see, besides those of the course.
        known: the behaviour of known wrong answers; None if nothing is diagnosed.
        progress: the receiver of what the run reports; by default nobody.
        strict: True if nothing is graded if the checks of an exercise cannot be read: works raise a `CourseError`.
        warm: True if it may use warm processes that an earlier command left, and leave them to the next.
        processes: the functions that open its processes, if not the usual ones.

    Attributes:
        processes: the functions that open the processes of all runtimes. Tests put others here, to share some.
        slots: the number of works that are graded at once.
        known: the argument `known`.
        progress: the argument `progress`.
        cancel: the token. Once the run is cancelled, what runs in a lane is ended and raises `Cancelled`.
    """

    processes: ClassVar[Processes] = Processes()

    def __init__(
        self,
        exercises: Sequence[Exercise],
        setup: Setup,
        slots: int = 1,
        *,
        hidden: Sequence[Path] = (),
        known: KnownMistakes | None = None,
        progress: Progress | None = None,
        strict: bool = False,
        warm: bool = False,
        processes: Processes | None = None,
    ) -> None:
        self.slots = slots
        self.known = known
        self.progress = progress or Progress()
        self.cancel = Cancel()
        self._exercises = exercises
        self._setup = setup
        self._hidden = hidden
        self._strict = strict
        self._warm = warm
        self._open = processes or self.processes
        self._opened = ExitStack()
        self._numbers = itertools.count()
        self._source: WorkerSource | None = None
        self._pool: LanePool | None = None
        self._is_small = warm and len(exercises) <= _FEW
        self._stopped: Submission | None = None
        self._changed: Sequence[Exercise] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, and cancel the works that wait or run."""
        self.cancel.cancel()
        # In the opposite order: the lanes before the source, from which their workers come.
        self._opened.close()

    # -- processes

    @property
    def source(self) -> WorkerSource:
        """Return the source of the lanes' workers; open it at the first use.

        Raises:
            StartError: forked workers are wanted together with CUDA.
            ConfinementError: the set-up requires more confinement than the workers can have.
        """
        if self._source is None:
            setup, exercises = self._setup, self._exercises
            if (setup.accelerator, setup.start) == (DeviceKind.CUDA, Start.FORK):
                raise StartError("a forked worker cannot use CUDA; take --start spawn with --device cuda")
            own = {folder for exercise in exercises for folder in exercise.closed}
            # A real file of the course, for the probes: what workers must not read is tried with what they would like.
            files = (exercise.hidden_checks or exercise.shown_checks for exercise in exercises)
            first = next((path for path in files if path), None)
            plain = any(exercise.without for exercise in exercises)
            plan = SandboxPlan(setup.least, setup.most, (*self._hidden, *sorted(own)), first, plain)
            compile_once()  # before any process of ours imports PyTorch
            # In this order: the source ends before the zygote, which would take it along.
            zygote = (
                self._opened.enter_context(closing(self._open.zygote(warm=self._warm, soon=self._is_small)))
                if setup.start is Start.FORK
                else None
            )
            self._source = self._opened.enter_context(closing(self._open.source(setup.start, plan, zygote)))
        return self._source

    def open_lane(self) -> Lane:
        """Open a lane for the caller alone, who must close it.

        `submit` and `call_in_lane` do not use this lane.
        """
        return self._open.lane(self._exercises, self.source, next(self._numbers), self._setup.accelerator)

    def warm_up(self) -> None:
        """Start all lanes now, so that later works need not wait for their start."""
        for _ in range(self.slots):
            self.call_in_lane(lambda lane: lane.collected)

    # -- work

    def submit(self, work: Work) -> Future[WorkResult]:
        """Submit one exercise to be graded in the next free lane; return a future of its result."""
        return self.call_in_lane(partial(self._grade, work))

    def call_in_lane(self, job: Callable[[Lane], T]) -> Future[T]:
        """Submit a function that takes a lane; return a future of the function's result.

        The next free lane calls it with itself as the argument.

        If files of checks changed, the lane first collects the checks again.
        """
        if self._pool is None:
            assert self.source  # once for all lanes, which are opened in threads of their own
            pool = LanePool(self.open_lane, self.slots, self.progress, self.cancel)
            self._pool = self._opened.enter_context(closing(pool))

        def done(lane: Lane) -> T:
            if self._changed is not None and lane.exercises is not self._changed:
                lane.recollect(self._changed)
            return job(lane)

        return self._pool.submit(done)

    def collected(self) -> Collected:
        """Return the checks of all exercises, as a lane collected them.

        It waits for a free lane. Files that changed are collected again after `recollect`.
        """
        return self.call_in_lane(lambda lane: lane.collected).result()

    def checks_of(self, exercise: Exercise) -> list[Check]:
        """Return the checks of one exercise."""
        return [check for check in self.collected().checks if check.exercise == exercise.id]

    def run(self, exercise: Exercise, files: Mapping[str, bytes], seed: int, selection: CheckSelection) -> JobResult:
        """Run a selection of an exercise's checks on files, and return the outcomes.

        Nothing is scored.

        Args:
            exercise: an exercise of this runtime.
            files: the contents of the files, by name.
            seed: the seed of the inputs.
            selection: the selection of checks.
        """
        return self.call_in_lane(lambda lane: lane.run(exercise, files, seed, selection=selection)).result()

    def recollect(self, exercises: Sequence[Exercise]) -> None:
        """Make each lane collect the checks again before its next work.

        Call it after check files may have changed.

        Args:
            exercises: the exercises whose checks the lanes collect.
        """
        self._changed = exercises

    def _grade(self, work: Work, lane: Lane) -> WorkResult:
        problems = lane.collected.problems
        if self._strict and problems:
            last = {id: problem.strip().splitlines()[-1].removeprefix("E").strip() for id, problem in problems.items()}
            remedy = "fix them (grade verify shows the line), then run the same command again"
            raise CourseError(*(f"{id}: its checks cannot be read ({why}); {remedy}" for id, why in last.items()))
        if self._stopped is work.submission:
            return WorkResult(work, graded_from(work.exercise, lane.checks_of(work.exercise), []))
        result = grade_exercise(work, lane, self.known)
        if work.plan.stops and has_lost_points(result.graded):
            self._stopped = work.submission
        return result
