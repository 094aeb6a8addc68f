"""What the ways to start a worker share, and the limits of its whole life."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.sandbox import clock
from grader.sandbox.start_messages import WorkerLimits
from grader.wire.frames import Caps
from grader.wire.transport import ChannelClosed, patience_until
from grader.worker_process.process import WorkerProcess
from grader.worker_process.waiting import Waiting

WARM_UP_S = 120.0
_SAID_BYTES = 4000

_RAN_S = 0.05
"""CPU time that a stopped worker may have used: a signal finds a process that waits for a core later."""


class Starter:
    """The base of the classes that start workers.

    Args:
        root: a private folder for the workers' folders.

    Attributes:
        make_room: ends a worker that is ready for later, and says whether there was one.
        students: the workers in which submissions run now.
        started: the number of workers that it has started.
        tested: the kinds of which a worker was seen to work: True for plain workers, False for those with PyTorch.
        waiting: counts the time for which this process waits for workers.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._numbers = itertools.count()
        self.make_room: Callable[[], bool] = lambda: False
        self.students: set[WorkerProcess] = set()
        self.started = 0
        self.tested: set[bool] = set()
        self.waiting = Waiting()

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, without_torch: bool = False
    ) -> WorkerProcess:
        """Start a worker with nothing loaded.

        Args:
            limits: the limits on the worker's time and memory.
            spared: True if the worker survives when an exercise takes too long and the lane's other workers are ended.
            simulates: True if the worker will see a simulated accelerator.
            without_torch: True if the worker has the standard library alone, without PyTorch and NumPy.
        """
        raise NotImplementedError

    def new_folder_and_output(self) -> tuple[Path, Path]:
        """Make an empty folder and an output file for a worker, and return both paths.

        They are `w0` and `w0.out` in the private folder for the first worker. The file is outside of the worker's
        folder.
        """
        # The output lies outside of the folder, which student code may fill and empty as it likes.
        name = f"w{next(self._numbers)}"
        folder, output = self._root / name, self._root / f"{name}.out"
        folder.mkdir(mode=0o700)
        output.touch(mode=0o600)
        return folder, output

    @contextmanager
    def pause_others(self, worker: WorkerProcess | None) -> Iterator[None]:
        """Pause all other workers with submissions, so that they do not disturb a measurement.

        They are paused while the `with` block runs. Afterwards, kill those that used CPU time in spite of the pause.

        Args:
            worker: the worker that is not paused; None to pause all.
        """
        others = self.students - {worker}
        before: dict[WorkerProcess, float | None] = {}
        try:
            for other in others:
                other.pause()
                before[other] = clock.cpu_s(other.pid)
            yield
        finally:
            for other in others:
                ran, now = before.get(other), clock.cpu_s(other.pid)
                # Something that it had prepared woke it up; by accident nothing does.
                if ran is not None and now is not None and now - ran > _RAN_S:
                    other.kill()
                other.resume()

    def close(self) -> None:
        """End the workers that were started ahead and not used."""


def worker_limits(limits: Limits, room_mb: int = 0) -> WorkerLimits:
    """Return the limits that the operating system enforces on a worker over its whole life.

    Args:
        limits: the limits of the exercise.
        room_mb: MiB of address space that are added to the memory limit, for addresses that are reserved and not used.
    """
    # The kernel counts CPU time over a worker's whole life, so what it is given there is the exercise's, not a call's.
    return WorkerLimits(math.ceil(limits.exercise_s), limits.memory_mb + room_mb, limits.file_mb, limits.processes)


def caps_of(limits: Limits) -> Caps:
    """Return the limits on the size of a worker's messages.

    No message may be larger than the memory that the worker may have.
    """
    return Caps(data_bytes=min(Caps().data_bytes, limits.memory_mb << 20))


def await_progress(worker: WorkerProcess) -> None:
    """Wait for the next report of a worker that is being started.

    The worker reports that it has imported its libraries, or that it is confined.

    Raises:
        WorkerLost: the worker ends or reports nothing; it is closed then.
    """
    try:
        worker.channel.receive(patience_until(time.monotonic() + WARM_UP_S))
    except (ChannelClosed, TimeoutError):
        # Read before it is closed: closing removes the output.
        said, _ = worker.read_output(_SAID_BYTES)
        ended = worker.await_end()
        worker.close()
        # Until then no line of the submission has run, so the loss is `broken` and costs no points.
        status = ended.status if ended else None
        text = f"a worker ended before it was confined (exit status {status}): {said}"
        raise WorkerLost(Verdict.BROKEN, text) from None
