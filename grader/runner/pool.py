"""Opening lanes: one, or several that work at once, each in a thread of its own.

Of several, whichever is free takes what waits longest.
All lanes have one worker server. They are put on no core of their own: that was not faster, and two batches on one
machine would have taken the same cores.
"""

from __future__ import annotations

import functools
import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from grader.model import Device, Exercise
from grader.model.errors import StartError
from grader.model.messages import Setup, Start
from grader.runner.confinement import SandboxPlan
from grader.runner.lane import Lane, Watch
from grader.runner.source import Source, open_source

Result = TypeVar("Result")
_STARTS = 3
"""How often a lane is started for one job before the job fails."""

_Task = tuple[Future[Any], Callable[[Lane], Any]]


def cores() -> list[int]:
    """The cores that this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Stopped(BaseException):
    """The pool was closed while something ran in a lane."""


class Pool:
    """Lanes with one queue; see `open_pool`. A lane is opened when there is something for it.

    Args:
        opened: opens a lane.
        slots: how many lanes there are at the most.
        ready: called before each job is put in, by whoever does that.

    Attributes:
        slots: the same.
        watch: called again and again with what a lane waits for, from the lane's own thread.
    """

    def __init__(self, opened: Callable[[], Lane], slots: int, ready: Callable[[], object] = lambda: None) -> None:
        self.slots = slots
        self.watch: Watch = lambda what, seconds: None
        self._opened = opened
        self._ready = ready
        self._jobs: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stops = threading.Event()
        self._lock = threading.Lock()
        self._open_jobs = 0

    def submit(self, job: Callable[[Lane], Result]) -> Future[Result]:
        """Have something done in the next lane that is free. What it raises, the future raises."""
        self._ready()
        future: Future[Result] = Future()
        with self._lock:
            self._open_jobs += 1
            if len(self._threads) < min(self.slots, self._open_jobs):
                self._threads.append(threading.Thread(target=self._work, name="lane", daemon=True))
                self._threads[-1].start()
        self._jobs.put((future, job))
        return future

    def _work(self) -> None:
        with ExitStack() as stack:
            lane: Lane | None = None
            while (task := self._jobs.get()) is not None:
                lane = self._do(task, lane, stack)

    def _do(self, task: _Task, lane: Lane | None, stack: ExitStack) -> Lane | None:
        """Do one thing, in this lane or a new one; return the lane, if it can be used again."""
        future, job = task
        if not future.set_running_or_notify_cancel():
            return lane
        for left in reversed(range(_STARTS)):
            try:
                if lane is None:
                    lane = stack.enter_context(closing(self._opened()))
                    lane.watch = self._watch
                result = job(lane)
            except BaseException as error:  # whatever it is, it is for who waits for it
                # What the lane was at is unknown: it is not used again.
                lane = None
                stack.close()
                # A process of ours that did not start may have been ended from outside: another one is tried.
                if not left or not isinstance(error, StartError):
                    self._is_free()
                    future.set_exception(error)
                    break
            else:
                self._is_free()
                future.set_result(result)
                break
        return lane

    def _is_free(self) -> None:
        with self._lock:
            self._open_jobs -= 1

    def _watch(self, what: str, seconds: float) -> None:
        if self._stops.is_set():
            raise Stopped
        self.watch(what, seconds)

    def close(self) -> None:
        """End all lanes. What waits is cancelled, and what runs is ended; its future raises `Stopped`."""
        self._stops.set()
        while not self._jobs.empty():
            task = self._jobs.get()
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


@contextmanager
def workers_for(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Source]:
    """Where workers for exercises come from; the arguments and errors are those of `open_lane`."""
    if (setup.accelerator, setup.start) == (Device.CUDA, Start.FORK):
        raise StartError("a forked worker cannot use CUDA; take --start spawn with --device cuda")
    own = {folder for exercise in exercises for folder in exercise.closed}
    # A real file of the course, for the probes: what workers must not read is tried with what they would like to.
    first = next((path for exercise in exercises if (path := exercise.hidden_checks or exercise.shown_checks)), None)
    plan = SandboxPlan(setup.least, setup.most, (*hidden, *sorted(own)), first)
    with closing(open_source(setup.start, plan)) as source:
        yield source


@contextmanager
def open_lane(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Lane]:
    """One lane.

    Args:
        exercises: whose checks are run.
        setup: how they are.
        hidden: folders that no worker may see; those of the courses are hidden in any case.

    Raises:
        StartError: forked workers are wanted together with CUDA.
        ConfinementError: fresh interpreters are to be confined.
    """
    # Closed in the opposite order: the lane before the source, from which its workers come.
    with (
        workers_for(exercises, setup, hidden) as source,
        closing(Lane(exercises, source, accelerator=setup.accelerator)) as lane,
    ):
        yield lane


@contextmanager
def open_pool(exercises: Sequence[Exercise], setup: Setup, slots: int, hidden: Sequence[Path] = ()) -> Iterator[Pool]:
    """Lanes for exercises, of which `slots` work at once; the other arguments are those of `open_lane`."""
    # Closed in the opposite order: the lanes before the source, from which their workers come.
    with ExitStack() as stack:
        numbers = itertools.count()

        @functools.cache
        def source() -> Source:
            return stack.enter_context(workers_for(exercises, setup, hidden))

        def opened() -> Lane:
            return Lane(exercises, source(), next(numbers), setup.accelerator)

        # The source starts with the first job, in the thread that closes it: it ends with the thread that started it.
        with closing(Pool(opened, slots, source)) as pool:
            yield pool
