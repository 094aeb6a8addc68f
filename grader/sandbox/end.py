"""The end of a process of ours, and what it said last."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO

GRACE_S = 5.0
"""How long a process that has nothing more to do may take to end."""

_LAST_WORDS = 2000


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that has nothing more to do, a moment; then kill it."""
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kill(pid: int) -> None:
    """Kill a process that may be gone already."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def tail(log: IO[bytes]) -> str:
    """The end of what a process said."""
    log.seek(0)
    text = log.read().decode("utf-8", "replace").strip()
    return text[-_LAST_WORDS:] or "it said nothing"
