"""The end of a process: of one that was forked, and of one that was started."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from subprocess import TimeoutExpired
from typing import IO, NoReturn, Protocol

from grader.sandbox.process import GRACE_S

_LAST_WORDS = 2000

SAID_NOTHING = "it said nothing"
"""The last words of a process that wrote nothing."""


def run_and_exit(action: Callable[[], None]) -> NoReturn:
    """Do something in a process that was forked, and end with it; what it raises goes to standard error."""
    try:
        action()
    except BaseException:
        end_with_traceback()
    finally:  # it must not come back into the code of the process that it was forked from
        os._exit(0)


def end_with_traceback() -> NoReturn:
    """End a process that was forked by what is being handled."""
    try:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


class Process(Protocol):
    """The methods that are used here of a process that was started, or forked."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""

    def kill(self) -> None:
        """Kill it."""


def end(process: Process) -> None:
    """Wait for a process that has nothing more to do, a moment; then kill it."""
    try:
        process.wait(GRACE_S)
    except TimeoutExpired:
        process.kill()
        process.wait()


def tail(log: IO[bytes]) -> str:
    """Return the end of what a process printed."""
    log.seek(0)
    text = log.read().decode("utf-8", "replace").strip()
    return text[-_LAST_WORDS:] or SAID_NOTHING
