"""Lanes that work at once, each in a thread of its own: whichever is free takes what waits longest.

All lanes have one worker server. They are put on no core of their own: that was not faster, and two batches on one
machine would have taken the same cores.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from grader.model import Exercise
from grader.model.errors import StartError
from grader.model.messages import Setup
from grader.runner.lane import Lane, Watch
from grader.runner.open import workers_for
from grader.runner.supply import Source

Result = TypeVar("Result")
_STARTS = 3
"""So often a lane is started for one job before there is none to be had."""

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
        watch: told again and again what a lane waits for; from the lane's own thread.
    """

    def __init__(self, opened: Callable[[], Lane], slots: int, ready: Callable[[], None] = lambda: None) -> None:
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
        """Do one thing, in a lane that is opened if there is none; give the lane, if it can be used again."""
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


class _Opener:
    """Opens lanes whose workers have one source, which is there when it is first asked for."""

    def __init__(self, exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path], stack: ExitStack) -> None:
        self._exercises = exercises
        self._setup = setup
        self._hidden = hidden
        self._stack = stack
        self._source: Source | None = None
        self._numbers = itertools.count()

    def ready(self) -> None:
        """Start the source: in the thread that closes it, as it ends with the thread that started it."""
        if self._source is None:
            self._source = self._stack.enter_context(workers_for(self._exercises, self._setup, self._hidden))

    def open(self) -> Lane:
        """One more lane."""
        assert self._source is not None
        return Lane(self._exercises, self._source, next(self._numbers), self._setup.accelerator)


@contextmanager
def open_pool(exercises: Sequence[Exercise], setup: Setup, slots: int, hidden: Sequence[Path] = ()) -> Iterator[Pool]:
    """Lanes for exercises; the arguments are those of `open_lanes`."""
    # Closed in the opposite order: the lanes before the source, from which their workers come.
    with ExitStack() as stack:
        opener = _Opener(exercises, setup, hidden, stack)
        with closing(Pool(opener.open, slots, opener.ready)) as pool:
            yield pool
