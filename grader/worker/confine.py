"""What a worker gives up before student code runs. One list, read on one page.

Every further layer (namespaces, a root of its own, Landlock, seccomp, cgroups) belongs into `confine`. A layer that
cannot be applied must end the worker; nothing here may be swallowed.
"""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from typing import Any

_OPEN_FILES = 256


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may use during its whole life.

    Attributes:
        cpu_s: CPU seconds of all its threads.
        memory_mb: MiB of address space beyond what the warm interpreter has.
        file_mb: MiB of any one file that it writes, its output among them.
        processes: processes and threads of its user beyond those of now; has no effect for root.
    """

    cpu_s: int
    memory_mb: int
    file_mb: int
    processes: int

    @classmethod
    def read(cls, told: dict[str, Any]) -> WorkerLimits:
        """Limits as the lane sent them."""
        return cls(**{name: int(told[name]) for name in cls.__dataclass_fields__})


def confine(limits: WorkerLimits, folder: str) -> None:
    """Leave this process with its channel, its output, an empty folder, and limits."""
    os.chdir(folder)
    for name in ("HOME", "TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    _limit_resources(limits)


def _limit_resources(limits: WorkerLimits) -> None:
    if sys.platform == "win32":  # no such limits there; the lane's deadlines still hold
        return
    import resource

    mib = 1 << 20
    hard = {
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_mb * mib,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":  # macOS does not enforce the first, and has no /proc to count for the second
        hard[resource.RLIMIT_AS] = _address_space() + limits.memory_mb * mib
        hard[resource.RLIMIT_NPROC] = tasks_of_user() + limits.processes
    for what, limit in hard.items():
        _, ceiling = resource.getrlimit(what)
        allowed = limit if ceiling == resource.RLIM_INFINITY else min(limit, ceiling)
        resource.setrlimit(what, (allowed, allowed))


def _address_space() -> int:
    """Bytes of address space that this process has already."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


@functools.cache
def tasks_of_user() -> int:
    """Threads that this user has: the limit counts them all, on the whole machine."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:  # it ended meanwhile
                continue
    return count
