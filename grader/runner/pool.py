"""Opening lanes: several that work at once, each in a thread of its own.

Of several, whichever is free takes what waits longest.
All lanes have one worker server. They are put on no core of their own: that was not faster, and two batches on one
machine would have taken the same cores.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from grader.model import Device, Exercise
from grader.model.errors import StartError
from grader.model.messages import Setup, Start
from grader.runner.lane import Lane, Watch
from grader.runner.source import SandboxPlan, Source, open_source

Result = TypeVar("Result")
_STARTS = 3
"""How often a lane is started for one job before the job fails."""


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
        self._threads = ThreadPoolExecutor(slots, "lane")
        self._free: list[Lane] = []
        self._stops = threading.Event()

    def submit(self, job: Callable[[Lane], Result]) -> Future[Result]:
        """Have something done in the next lane that is free. What it raises, the future raises."""
        self._ready()
        return self._threads.submit(self._do, job)

    def _do(self, job: Callable[[Lane], Result], starts: int = _STARTS) -> Result:
        """Do one thing, in a lane that is free or a new one, which is used again if all went well."""
        lane: Lane | None = None
        try:
            with suppress(IndexError):  # none is free
                lane = self._free.pop()
            lane = lane or self._opened()
            lane.watch = self._watch
            result = job(lane)
        except BaseException as error:
            # What the lane was at is unknown: it is not used again.
            if lane is not None:
                lane.close()
            # A process of ours that did not start may have been ended from outside: another one is tried.
            if starts == 1 or not isinstance(error, StartError):
                raise
            return self._do(job, starts - 1)
        self._free.append(lane)
        return result

    def _watch(self, what: str, seconds: float) -> None:
        if self._stops.is_set():
            raise Stopped
        self.watch(what, seconds)

    def close(self) -> None:
        """End all lanes. What waits is cancelled, and what runs is ended; its future raises `Stopped`."""
        self._stops.set()
        self._threads.shutdown(cancel_futures=True)
        with ThreadPoolExecutor(self.slots) as threads:  # each of them waits for a process
            list(threads.map(lambda lane: lane.close(), self._free))


@contextmanager
def workers_for(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Source]:
    """Where workers for exercises come from.

    Args:
        exercises: whose checks are run.
        setup: how they are.
        hidden: folders that no worker may see; those of the courses are hidden in any case.

    Raises:
        StartError: forked workers are wanted together with CUDA.
        ConfinementError: fresh interpreters are to be confined.
    """
    if (setup.accelerator, setup.start) == (Device.CUDA, Start.FORK):
        raise StartError("a forked worker cannot use CUDA; take --start spawn with --device cuda")
    own = {folder for exercise in exercises for folder in exercise.closed}
    # A real file of the course, for the probes: what workers must not read is tried with what they would like to.
    first = next((path for exercise in exercises if (path := exercise.hidden_checks or exercise.shown_checks)), None)
    plan = SandboxPlan(setup.least, setup.most, (*hidden, *sorted(own)), first)
    with closing(open_source(setup.start, plan)) as source:
        yield source


@contextmanager
def open_pool(exercises: Sequence[Exercise], setup: Setup, slots: int, hidden: Sequence[Path] = ()) -> Iterator[Pool]:
    """Lanes for exercises, of which `slots` work at once; the other arguments are those of `workers_for`."""
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
