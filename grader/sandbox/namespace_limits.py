"""How many namespaces there may be, and which setting of the kernel refuses more."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from grader.sandbox.namespaces import Namespaces, PendingNamespaces, begin_namespaces, open_namespaces

AT_ONCE = 5
"""Workers that one lane may need at once: the student's for two kinds of devices, a reference's, and a timed pair."""

ENOUGH = AT_ONCE + 3
"""Namespaces of each kind for that: one for each worker, and what the launcher enters before it makes them."""

# The kernel takes old namespaces apart later than it counts them.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0)

Result = TypeVar("Result")


def require_room(proc: int) -> None:
    """Raise `OSError` unless the kernel allows `AT_ONCE` workers at the same time.

    Each of them has namespaces of its own.

    Raises:
        OSError: the kernel refuses a step, or so many namespaces.
    """
    here, begun, opened = os.pidfd_open(os.getpid()), list[PendingNamespaces](), list[Namespaces]()
    kinds = [True] * AT_ONCE + [False]  # and the namespaces that workers share
    try:
        # All are begun before the first is waited for: it is the children that take the time.
        for private in kinds:
            begun.append(retry_while_out_of_namespaces(partial(begin_namespaces, proc, here, private=private)))
        while begun:
            opened.append(_wait_or_make_again(begun.pop(0), partial(open_namespaces, proc, here)))
    except OSError as error:
        for each in begun:
            with contextlib.suppress(OSError):  # there is no room for that one, either
                opened.append(each.wait())
        if error.errno != errno.ENOSPC:
            raise
        some = f"there is room for {len(opened)} workers at once: {error.strerror}"
        raise OSError(error.errno, some) from None
    finally:
        os.close(here)
        for one in opened:
            os.kill(one.holder, signal.SIGKILL)
        for one in opened:
            os.waitpid(one.holder, 0)
            os.close(one.pidfd)


def _wait_or_make_again(begun: PendingNamespaces, again: Callable[..., Namespaces]) -> Namespaces:
    """Wait until namespaces are set up, and return them.

    If the kernel runs out of namespaces, they are made again.

    Args:
        begun: the namespaces that are being set up.
        again: a function that makes such namespaces; its argument is `private`.

    Raises:
        OSError: the kernel refuses a step, or has no more namespaces all the time.
    """
    try:
        return begun.wait()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    return retry_while_out_of_namespaces(partial(again, private=begun.private))


def retry_while_out_of_namespaces(action: Callable[[], Result]) -> Result:
    """Call a function until the kernel has enough namespaces for it; return its result.

    It is retried for about two seconds.

    Raises:
        OSError: the function failed for another reason, or the kernel had too few namespaces each time.
    """
    for pause in _PAUSES_S:
        try:
            return action()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            time.sleep(pause)
    return action()


def advice(reason: str, settings: str = "/proc/sys") -> str:
    """Return a text on kernel settings that may be why namespaces were refused.

    For an error with ENOSPC, and 2 as `user.max_net_namespaces`, it is "; user.max_net_namespaces is 2;
    5 workers need 8". If no setting explains ENOSPC, the text says that others use up what is allowed. It is "" for
    another error that no setting explains.

    Args:
        reason: the error of the kernel, with its name such as ENOSPC.
        settings: the folder with the settings of the kernel; see namespaces(7).
    """
    found = []
    if "ENOSPC" in reason:
        for path in sorted(Path(settings, "user").glob("max_*_namespaces")):
            if (most := _number(path)) is not None and most < ENOUGH:
                found.append(f"user.{path.name} is {most}")
        others = "others use up what user.max_*_namespaces allow, or a limit around this container does"
        return f"; {', '.join(found) or others}; {AT_ONCE} workers need {ENOUGH}"
    if "EPERM" in reason or "EACCES" in reason:
        for name, forbids in (("unprivileged_userns_clone", 0), ("apparmor_restrict_unprivileged_userns", 1)):
            if _number(Path(settings, "kernel", name)) == forbids:
                found.append(f"; kernel.{name} is {forbids}; workers need {1 - forbids}")
    return "".join(found)


def _number(path: Path) -> int | None:
    """Return the number in a file; None if there is no such file, or it may not be read."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
