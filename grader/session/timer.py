"""A timer over a check's own code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

from grader.model.endings import CheckTimeout


class Timer:
    """A timer over a check's own code, which can be paused. Without SIGALRM, pytest-timeout's own is used."""

    def __init__(self) -> None:
        # Python runs signal handlers in the main thread alone.
        self._usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
        self._seconds = 0.0

    def start(self, seconds: float) -> bool | None:
        """Start it; None if it cannot be used here."""
        if not self._usable:
            return None
        self._seconds = seconds
        signal.signal(signal.SIGALRM, self._fire)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return True

    def stop(self) -> bool | None:
        """Stop it; None if it cannot be used here."""
        if not self._usable:
            return None
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    def pause(self) -> Callable[[], None]:
        """Stop the clock; call what is returned to let it go on."""
        if not self._usable:
            return lambda: None
        # A slow submission has deadlines of its own in `remote`; it must not use up the time of the check's code.
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        return lambda: self._resume(left)

    def _resume(self, left: float) -> None:
        # A timer of 0 would be no timer at all: then it had fired, or none was set.
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, left)

    def _fire(self, *_: object) -> None:
        # A BaseException, so that an `except Exception` in the check cannot go on as if nothing were.
        raise CheckTimeout(f"the check's own code took longer than {self._seconds:g} seconds")
