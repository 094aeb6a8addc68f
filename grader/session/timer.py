"""A timer over a check's own code."""

from __future__ import annotations

import math
import signal
import threading
import time

from grader.connection.record import waiting
from grader.model.endings import CheckTimeout

_SHORTEST_S = 0.001


class Timer:
    """A timer over a check's own code. Without SIGALRM, pytest-timeout's own is used.

    The signal comes at the earliest moment at which the time can be over. If the check waited for a worker meanwhile,
    it is set again for what is left: a slow submission has deadlines of its own, and uses up none of this time.
    """

    def __init__(self) -> None:
        # Python runs signal handlers in the main thread only.
        self._usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
        self._seconds = 0.0
        self._until = math.inf
        """When the time is over, on a clock that stands still while the check waits; infinite without a limit."""

    def start(self, seconds: float) -> bool | None:
        """Start it; None if it cannot be used here. With 0 there is no limit."""
        if not self._usable:
            return None
        self._seconds = seconds
        self._until = _own_time() + seconds if seconds else math.inf
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return True

    def stop(self) -> bool | None:
        """Stop it; None if it cannot be used here."""
        if not self._usable:
            return None
        self._until = math.inf
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    def _look(self, *_: object) -> None:
        left = self._until - _own_time()
        if left > 0 or waiting.is_on:
            if left < math.inf:
                signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST_S))
            return
        # A BaseException, so that an `except Exception` in the check cannot go on as if nothing had happened.
        raise CheckTimeout(f"the check's own code took longer than {self._seconds:g} seconds")


def _own_time() -> float:
    return time.monotonic() - waiting.seconds()
