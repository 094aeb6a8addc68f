"""What a check process gives up before it imports torch and reads a check: endless memory, the network, other files.

A check is code of the course's author, and what it takes in comes from student code. Best effort: where the kernel does
not give a layer the process does without it, and `grade doctor` says so. Only where workers are forked, which is on
Linux: a check process that spawns workers needs the rights to confine them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from py_landlock.errors import LandlockError

from grader.sandbox import cgroup, kernel, landlock
from grader.sandbox.limits import THREADS
from grader.sandbox.process import clean_environment, interpreter_paths, isolated
from grader.sandbox.view import DEVICES, View

MEMORY_MB = 3072
"""With PyTorch, the replies to one check of the student and the reference, and what comparing them takes."""


def give_up(groups: cgroup.Groups | None, readable: Sequence[str], writable: Sequence[str]) -> list[str]:
    """Enter a control group, leave the network, and keep access to some files alone. The process must have one thread.

    Args:
        groups: where control groups can be made, also those of workers later.
        readable: folders of the course.
        writable: folders in which files may be written.

    Returns:
        What the kernel refused.
    """
    steps: dict[str, Callable[[], None]] = {
        "no memory control group": lambda: _enter_group(groups),
        "the network can be reached": _leave_network,
        "other files can be read": lambda: _see(groups, readable, writable),
    }
    refused = []
    for what, step in steps.items():
        try:
            step()
        except (OSError, LandlockError) as error:
            refused.append(f"{what}: {error}")
    return refused


def _enter_group(groups: cgroup.Groups | None) -> None:
    if groups is None:
        raise OSError("control groups cannot be written here")
    # Nobody removes it by name: whoever sweeps sees that the process of this number is gone.
    group = groups.make(MEMORY_MB, THREADS)
    cgroup.enter(group.doors())
    group.take_in(os.getpid())


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


def _see(groups: cgroup.Groups | None, readable: Sequence[str], writable: Sequence[str]) -> None:
    if not landlock.abi():
        raise OSError("this kernel has no Landlock")
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


def refused_here() -> list[str]:
    """What a check process cannot be denied on this machine, tried in a throw-away process."""
    command = isolated("grader.sandbox.check_process")
    ran = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    with contextlib.suppress(ValueError):
        refused: list[str] = json.loads(ran.stdout)
        return refused
    return [f"it could not be tried: {ran.stderr.strip()[-200:]}"]


def main() -> None:
    """Try it here."""
    groups = cgroup.find()
    if groups is not None:
        groups.sweep()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kept").mkdir()
        json.dump(give_up(groups, [], [f"{folder}/kept"]), sys.stdout)
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
