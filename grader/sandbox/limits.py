"""What one worker may use: limits of the kernel on one process, see setrlimit(2)."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

_OPEN_FILES = 256
THREADS = 256
THREADS_OF_MANY = 16
_MIB = 1 << 20


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may use during its whole life.

    Attributes:
        cpu_s: CPU seconds of all its threads.
        memory_mb: MiB of address space of each process beyond what the warm interpreter has.
        file_mb: MiB of any one file that it writes, its output among them.
        processes: how many processes it may be, itself included. With more than one, threads count as processes.
    """

    cpu_s: int
    memory_mb: int
    file_mb: int
    processes: int

    @property
    def tasks(self) -> int:
        """Processes and threads together: the kernel has one limit for both."""
        return THREADS if self.processes == 1 else self.processes + THREADS_OF_MANY


def limit_resources(limits: WorkerLimits, address_space: int = 0, tasks: int = 0) -> None:
    """Set the limits, for ever.

    Args:
        limits: what is allowed.
        address_space: bytes that an idle worker has already.
        tasks: threads that its user has already, where they are counted together with the worker's.

    Raises:
        OSError: the kernel refuses.
    """
    if sys.platform == "win32":  # no such limits there; the lane's deadlines still hold
        return
    import resource

    # Soft and hard alike, so that student code cannot raise them again.
    hard = {
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_mb * _MIB,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":  # macOS does not enforce the first, and does not count for the second as we do
        hard[resource.RLIMIT_AS] = address_space + limits.memory_mb * _MIB
        hard[resource.RLIMIT_NPROC] = tasks + limits.tasks
        hard[resource.RLIMIT_MEMLOCK] = 0
        hard[resource.RLIMIT_MSGQUEUE] = 0
        hard[resource.RLIMIT_RTPRIO] = 0
    # A machine may allow less than is asked for; to raise that takes rights that we do not have.
    for what, limit in hard.items():
        _, ceiling = resource.getrlimit(what)
        allowed = limit if ceiling == resource.RLIM_INFINITY else min(limit, ceiling)
        resource.setrlimit(what, (allowed, allowed))


def address_space_of_self(proc: int | None = None) -> int:
    """Bytes of address space that this process has; `proc` is a descriptor of a proc file system where none is seen."""
    try:
        descriptor = os.open("/proc/self/statm" if proc is None else "self/statm", os.O_RDONLY, dir_fd=proc)
    except FileNotFoundError:
        return 0  # not Linux
    with os.fdopen(descriptor, encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def tasks_of_user() -> int:
    """Threads that this user has on the whole machine: Linux counts them all together. 0 where /proc does not tell."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            try:
                if os.stat(f"/proc/{name}").st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:  # it ended meanwhile
                continue
    return count
