"""How many namespaces a machine must give, and what to say where it gives fewer."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

AT_ONCE = 5
"""Workers that one lane may need at once: the student's for two kinds of devices, a reference's, and a timed pair."""

ENOUGH = AT_ONCE + 3
"""Namespaces of each kind for that: one for each worker, and what the launcher enters before it makes them."""

# The kernel takes old namespaces apart later than it counts them.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0)
_LIMITS = "/proc/sys/user"

Result = TypeVar("Result")


def patiently(action: Callable[[], Result]) -> Result:
    """What an action gives, which is tried again for a while as long as there are no namespaces left.

    Raises:
        OSError: it failed for another reason, or for that one all the time.
    """
    for pause in _PAUSES_S:
        try:
            return action()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            time.sleep(pause)
    return action()


def advice(reason: str, limits: str = _LIMITS) -> str:
    """Which limits are too low, if that may be why the kernel refused; else "".

    Args:
        reason: what the kernel said.
        limits: the folder of namespaces(7) in which it tells them.
    """
    if "ENOSPC" not in reason:
        return ""
    low = []
    for path in sorted(Path(limits).glob("max_*_namespaces")):
        with contextlib.suppress(OSError, ValueError):
            if (most := int(path.read_text(encoding="ascii"))) < ENOUGH:
                low.append(f"user.{path.name} is {most}")
    told = ", ".join(low) or "others use up what user.max_*_namespaces allow, or a limit around this container does"
    return f"; {told}: {ENOUGH} of each kind are needed for {AT_ONCE} workers at once"
