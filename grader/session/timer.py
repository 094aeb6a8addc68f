"""A timer over a check's own code."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable

from grader.model.endings import CheckTimeout

_SHORTEST_S = 0.001


class Timer:
    """A timer over a check's own code, which can be paused. Without SIGALRM, pytest-timeout's own is used.

    The signal comes at the earliest moment at which the time can be over. If the clock stood still meanwhile, as it
    does during each call of student code, it is set again for what is left: two system calls for a check, not for each
    call.
    """

    def __init__(self) -> None:
        # Python runs signal handlers in the main thread alone.
        self._usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
        self._seconds = 0.0
        self._until = math.inf
        """When the time is over, by the clock; infinite while there is no limit."""
        self._left: float | None = None
        """Of a clock that stands still: seconds that are left."""

    def start(self, seconds: float) -> bool | None:
        """Start it; None if it cannot be used here. With 0 there is no limit."""
        if not self._usable:
            return None
        self._seconds = seconds
        self._until = time.monotonic() + seconds if seconds else math.inf
        self._left = None
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

    def pause(self) -> Callable[[], None]:
        """Stop the clock; call what is returned to let it go on."""
        if self._left is not None:  # it stands still already
            return _nothing
        # A slow submission has deadlines of its own in `remote`; it must not use up the time of the check's code.
        self._left = self._until - time.monotonic()
        return self._resume

    def _resume(self) -> None:
        if self._left is not None:
            self._until, self._left = time.monotonic() + self._left, None

    def _look(self, *_: object) -> None:
        left = self._until - time.monotonic() if self._left is None else max(self._left, _SHORTEST_S)
        if left > 0:
            if left < math.inf:
                signal.setitimer(signal.ITIMER_REAL, left)
            return
        # A BaseException, so that an `except Exception` in the check cannot go on as if nothing were.
        raise CheckTimeout(f"the check's own code took longer than {self._seconds:g} seconds")


def _nothing() -> None:
    pass
