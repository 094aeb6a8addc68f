"""What both ways to start a worker share: its scratch directory, its limits, and the wait until it is confined."""

from __future__ import annotations

import math
import time

from grader.connection.process import LONGEST_WAIT_S, WorkerProcess
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.sandbox.limits import WorkerLimits
from grader.wire.bounds import Caps, ChannelClosed
from grader.wire.frames import Frame

WARM_UP_S = 120.0
_SAID_BYTES = 4000


def worker_limits(limits: Limits, room_mb: int = 0) -> WorkerLimits:
    """The limits of a worker's whole life.

    Args:
        limits: of the exercise.
        room_mb: MiB of address space besides, which is not used memory.
    """
    # The kernel counts CPU time over a worker's whole life, so what it is given there is the exercise's, not a call's.
    return WorkerLimits(math.ceil(limits.exercise_s), limits.memory_mb + room_mb, limits.file_mb, limits.processes)


def caps_of(limits: Limits) -> Caps:
    """No message is larger than the memory that the worker may have."""
    return Caps(data_bytes=min(Caps().data_bytes, limits.memory_mb << 20))


def first_words(worker: WorkerProcess) -> Frame:
    """What a worker says of its start. A failure before it is confined is ours.

    Raises:
        WorkerLost: it says nothing; it is closed.
    """
    # Until then no line of the submission has run, so the loss is `broken` and costs nobody a point.
    until = time.monotonic() + WARM_UP_S

    def patience() -> float:
        if time.monotonic() > until:
            raise WorkerLost(Verdict.BROKEN, "a worker did not start")
        return LONGEST_WAIT_S

    try:
        return worker.channel.receive(patience)
    except ChannelClosed:
        # Read before it is closed: closing removes the output.
        said = worker.read_output(_SAID_BYTES)
        code = worker.life.exit_code()
        worker.close()
        text = f"a worker ended before it was confined (exit status {code}): {said}"
        raise WorkerLost(Verdict.BROKEN, text) from None
