"""The time that a check's own code may take, by the hooks of pytest-timeout. What a call waits for is not counted.

The timers of pytest-timeout count every second, and end a check wherever it is: the slow call of a submission would
look like a slow check, and a reply that is just being read would be lost. Its hooks let other timers take their place.
Ours come at the earliest moment at which the time can be over. If the check waited for a worker meanwhile, they are set
again for what is left: a slow submission has deadlines of its own, and uses up none of this time.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pytest_timeout import Settings

from grader.model.endings import CheckTimeout
from grader.worker_process.waiting import Waiting

_SHORTEST_S = 0.001
_CANCEL = pytest.StashKey[Callable[[], None]]()


class OwnTime:
    """The pytest plugin that gives checks timers which stand still while a worker is waited for.

    Args:
        waiting: the object that counts the time for which workers are waited for.
    """

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Settings) -> bool:
        """Start a timer of ours for a check, in place of pytest-timeout's.

        Return True, so that pytest-timeout starts no timer.
        """
        start = _start_signal_timer if settings.method == "signal" else _start_thread_timer
        item.stash[_CANCEL] = start(float(settings.timeout), self._waiting)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> bool:
        """Stop the timer of a check, if the check has one.

        A check file that cannot be collected has no timer. Return True, so that pytest-timeout stops no timer.
        """
        if _CANCEL in item.stash:
            item.stash[_CANCEL]()
        return True


@contextmanager
def limit_own_time(item: pytest.Item, seconds: float) -> Iterator[None]:
    """Limit the time of a check's own code in the `with` block.

    The mark `timeout` of the check sets the limit; without the mark, `seconds` is the limit.

    Args:
        item: the check.
        seconds: the time that its exercise allows.

    Raises:
        CheckTimeout: the code takes longer. Without SIGALRM the process ends instead, as nothing else stops a thread.
    """
    settings = _settings_of(item, seconds)
    if not settings.timeout:
        yield
        return
    hooks = item.config.hook
    hooks.pytest_timeout_set_timer(item=item, settings=settings)
    try:
        yield
    finally:
        hooks.pytest_timeout_cancel_timer(item=item)


def _settings_of(item: pytest.Item, seconds: float) -> Settings:
    mark = item.get_closest_marker("timeout")
    given = {**dict(zip(("timeout", "method"), mark.args, strict=False)), **mark.kwargs} if mark else {}
    method = given.get("method") or ("signal" if hasattr(signal, "SIGALRM") else "thread")
    return Settings(float(given.get("timeout", seconds)), method, func_only=False, disable_debugger_detection=False)


def _start_signal_timer(seconds: float, waiting: Waiting) -> Callable[[], None]:
    """Start a timer that raises `CheckTimeout` in the check's own code.

    Return the function that stops the timer.
    """
    until = _own_time(waiting) + seconds

    def look(*_: object) -> None:
        left = until - _own_time(waiting)
        if left > 0 or waiting.is_on:
            if left < math.inf:
                signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST_S))
            return
        # A BaseException, so that an `except Exception` in the check cannot go on as if nothing had happened.
        raise CheckTimeout(_too_long_text(seconds))

    def cancel() -> None:
        nonlocal until
        until = math.inf
        signal.setitimer(signal.ITIMER_REAL, 0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return cancel


def _start_thread_timer(seconds: float, waiting: Waiting) -> Callable[[], None]:
    """Start a timer that exits this process when a check's own code takes too long.

    Return the function that stops the timer. The host reports the process that it lost as a fault of ours.
    """
    until, checks = _own_time(waiting) + seconds, threading.get_ident()
    stopped = threading.Event()

    def look() -> None:
        while not stopped.wait(max(until - _own_time(waiting), _SHORTEST_S)):
            if until <= _own_time(waiting) and not waiting.is_on:
                frame = sys._current_frames().get(checks)
                stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
                print(f"{stack}{_too_long_text(seconds)}", file=sys.stderr, flush=True)  # noqa: T201  the lane's log
                os._exit(1)

    def cancel() -> None:
        stopped.set()
        timer.join()

    timer = threading.Thread(target=look, name="pytest-timeout", daemon=True)
    timer.start()
    return cancel


def _too_long_text(seconds: float) -> str:
    return f"the check's own code took longer than {seconds:g} seconds"


def _own_time(waiting: Waiting) -> float:
    """Return the seconds of a clock that stands still while the check waits for a worker."""
    return time.monotonic() - waiting.seconds()
