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
    """Run a function in a process that was forked, then exit.

    What the function raises is printed to standard error.
    """
    try:
        action()
    except BaseException:
        end_with_traceback()
    finally:  # it must not come back into the code of the process that it was forked from
        os._exit(0)


def end_with_traceback() -> NoReturn:
    """Print the exception that is being handled, and exit with status 1.

    A process that was forked ends by this, without the cleanup of the process that it was forked from.
    """
    try:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


class Process(Protocol):
    """A process that can be waited for and killed, such as a `subprocess.Popen`."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended, and return its exit status."""

    def kill(self) -> None:
        """Kill the process."""


def end(process: Process) -> None:
    """Wait `GRACE_S` for a process to end by itself, and kill it if it has not ended."""
    try:
        process.wait(GRACE_S)
    except TimeoutExpired:
        process.kill()
        process.wait()


def tail(log: IO[bytes]) -> str:
    """Return the end of what a process printed into its log, for a message on why it ended.

    It has at most 2000 characters. It is "it said nothing" if nothing was printed.
    """
    log.seek(0)
    text = log.read().decode("utf-8", "replace").strip()
    return text[-_LAST_WORDS:] or SAID_NOTHING
