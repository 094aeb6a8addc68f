"""Where student code is stopped: by the grader when its time is over, and where it would wait for somebody to type."""

from __future__ import annotations

import signal
import sys
from bdb import BdbQuit
from typing import Any

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF) if hasattr(signal, "setitimer") else ()
_SET_TIMER: Any = getattr(signal, "setitimer", None)  # as it is before student code is loaded


class TimeIsOver(BaseException):
    """Raised where student code is when the grader asks where that is: the line goes into the message."""


def prepare() -> None:
    """Before student code is loaded."""
    sys.breakpointhook = _stop_at_breakpoint
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, _stop_here)


def stop_timers() -> None:
    """A timer of the student's must not ring while nothing of the student's runs."""
    for timer in _TIMERS:
        _SET_TIMER(timer, 0)


def _stop_at_breakpoint(*args: Any, **kwargs: Any) -> None:
    raise BdbQuit  # where nobody types, a prompt is only noise


def _stop_here(number: int, frame: Any) -> None:
    raise TimeIsOver
