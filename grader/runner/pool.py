"""Several lanes that work at once, each in a thread of its own.

Of several, whichever is free takes what waits longest.
All lanes have one worker server. They are put on no core of their own: that was not faster, and two batches on one
machine would have taken the same cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from grader.model.errors import StartError
from grader.model.progress import Cancel, Progress
from grader.runner.lane import Lane

Result = TypeVar("Result")
_STARTS = 3
"""How often a lane is started for one job before the job fails."""


def usable_cores() -> list[int]:
    """Return the cores that this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class LanePool:
    """Lanes with one queue. A lane is opened when there is something for it.

    Args:
        opened: a function that opens a lane.
        slots: the largest number of lanes.
        progress: the progress that lanes report to.
        cancel: the token that cancels the running jobs.

    Attributes:
        slots: the same.
    """

    def __init__(self, opened: Callable[[], Lane], slots: int, progress: Progress, cancel: Cancel) -> None:
        self.slots = slots
        self._opened = opened
        self._progress = progress
        self._cancel = cancel
        self._threads = ThreadPoolExecutor(slots, "lane")
        self._free: list[Lane] = []

    def submit(self, job: Callable[[Lane], Result]) -> Future[Result]:
        """Submit a function that takes a lane; return the future of its result.

        The function is called with the next free lane. The future raises what the function raises.
        """
        return self._threads.submit(self._call_with_lane, job)

    def _call_with_lane(self, job: Callable[[Lane], Result], starts: int = _STARTS) -> Result:
        """Call a function with a free or a new lane; return its result.

        The lane is kept if the function returns, and closed if it raises.

        Args:
            job: the function.
            starts: the number of calls that are tried if processes do not start.
        """
        lane: Lane | None = None
        try:
            with suppress(IndexError):  # none is free
                lane = self._free.pop()
            lane = lane or self._opened()
            lane.progress, lane.cancel = self._progress, self._cancel
            result = job(lane)
        except BaseException as error:
            # What the lane was at is unknown: it is not used again.
            if lane is not None:
                lane.close()
            # A process of ours that did not start may have been ended from outside: another one is tried.
            if starts == 1 or not isinstance(error, StartError):
                raise
            return self._call_with_lane(job, starts - 1)
        self._free.append(lane)
        return result

    def close(self) -> None:
        """Cancel all jobs, then close all lanes.

        The future of a job that was running raises `Cancelled`.
        """
        self._cancel.cancel()
        self._threads.shutdown(cancel_futures=True)
        with ThreadPoolExecutor(self.slots) as threads:  # each of them waits for a process
            list(threads.map(lambda lane: lane.close(), self._free))
