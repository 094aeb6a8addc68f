"""What is seen from outside while a call is counted.

Counts are taken in the worker, beside student code, and in its first thread alone. What that code can hide from the
counts it cannot hide from the kernel: the CPU time of a thread, even of one that has ended, is the difference between
the clock of the process and that of its first thread, to the nanosecond. Both are read while the worker waits for us.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.remote.handle import Handle
from grader.remote.probe import built_in, side_of_function
from grader.remote.worker import Worker

_SETTLE_S = 0.02
_LOOK_S = 0.001


@dataclass(frozen=True)
class Witnessed:
    """A call that was counted.

    Attributes:
        answer: what the probe told: a claim.
        cpu_s: CPU seconds of the worker meanwhile; None where they cannot be read.
    """

    answer: Any
    cpu_s: float | None


def witnessed(
    function: Handle, name: str, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Witnessed:
    """What a probe of our own reports of one call, during which no thread ran that the probe does not see.

    The arguments are those of `built_in`.

    Raises:
        CheckFailed: another thread ran.
    """
    side = side_of_function(function, name)
    side.ready()
    worker = side.sitting.live_worker()
    _settle(worker)
    others, cpu = _others(worker), worker.cpu_s()
    with side.sitting.alone():
        answer = built_in(function, name, values, args, kwargs)
    others_after, cpu_after = _others(worker), worker.cpu_s()
    # The most that it can have been before, the least that it can be now.
    if others and others_after and others_after[0] > others[1]:
        public = say(
            "`{}` works in another thread, where nothing is counted; do the work in the one that calls it", function
        )
        milliseconds = (others_after[0] - others[1]) / 1e6
        raise CheckFailed(public, f"{public}\nother threads took {milliseconds:.3f} ms of CPU time meanwhile")
    return Witnessed(answer, None if cpu is None or cpu_after is None else cpu_after - cpu)


def _others(worker: Worker) -> tuple[int, int] | None:
    """Between which two the CPU nanoseconds of the other threads lie, read while no clock of the worker's moves.

    The kernel writes the clock of a thread and that of its process one after the other. Who reads between the two, as
    the worker falls asleep, would take the difference for another thread's.
    """
    until = time.monotonic() + _SETTLE_S
    found, before = worker.other_threads_ns(), None
    while found is not None and (found != before or found[0] != found[1]) and time.monotonic() < until:
        found, before = worker.other_threads_ns(), found
    return found


def _settle(worker: Worker) -> None:
    """Let threads of an earlier call end: what they take for that is not this call's."""
    until = time.monotonic() + _SETTLE_S
    while (worker.threads() or 1) > 1 and time.monotonic() < until:
        time.sleep(_LOOK_S)
