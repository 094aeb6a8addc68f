"""What a check process gives up before it imports torch and reads a check: endless memory, the network, other files.

A check is code of the course's author, and what it takes in comes from student code. Best effort: where the kernel does
not give a layer the process does without it. Only where workers are forked, which is on Linux: a check process that
spawns workers needs the rights to confine them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from py_landlock.errors import LandlockError

from grader.sandbox import cgroup, kernel, landlock
from grader.sandbox.messages import THREADS
from grader.sandbox.process import interpreter_paths
from grader.sandbox.view import DEVICES, View

MEMORY_MB = 3072
"""With PyTorch, the replies to one check of the student and the reference, and what comparing them takes."""


def give_up(groups: cgroup.Group | None, readable: Sequence[str], writable: Sequence[str]) -> None:
    """Enter a control group, leave the network, and keep access to some files alone. The process must have one thread.

    Args:
        groups: where control groups can be made, also those of workers later.
        readable: folders of the course.
        writable: folders in which files may be written.
    """
    with contextlib.suppress(OSError):
        _enter_group(groups)
    with contextlib.suppress(OSError):
        _leave_network()
    with contextlib.suppress(OSError, LandlockError):
        _see(groups, readable, writable)


def _enter_group(groups: cgroup.Group | None) -> None:
    if groups is None:
        return
    # Nobody removes it by name: whoever sweeps sees that the process of this number is gone.
    groups.make(MEMORY_MB, THREADS).take_in(os.getpid())


def _leave_network() -> None:
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
        return
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        kernel.map_user(proc, user, user, group)
    finally:
        os.close(proc)


def _see(groups: cgroup.Group | None, readable: Sequence[str], writable: Sequence[str]) -> None:
    if not landlock.abi():
        return
    kernel.forbid_new_privileges()
    shown = [*View(tuple(interpreter_paths())).folders(), *readable, "/sys", "/etc"]
    places = [*writable, "/proc", *(f"/dev/{name}" for name in DEVICES)]
    places += [str(groups.memory), str(groups.pids)] if groups is not None else []
    # pytest lists each folder from the one that all check files have in common.
    listed = [os.path.commonpath(readable)] if readable else []
    # It removes its own folder at the end, if the host was killed.
    left = [os.path.dirname(folder) for folder in writable]
    # Signals are not kept in: it stops workers while others are timed.
    rules = landlock.make_ruleset(shown, places, listed, left, scoped=False)
    landlock.apply(rules)
    os.close(rules)
