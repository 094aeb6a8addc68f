"""What the system says about a process, from outside: the process has no part in it. Linux; elsewhere None."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

RESET = b"5"
"""What is written to the file `clear_refs` of a process to let its peak of memory begin anew; see proc(5)."""


class Disturbances(NamedTuple):
    """Counts, since the start of a process, of events that may have made it slow.

    Attributes:
        faults: page faults of all its threads: each is a page of memory that was not there yet.
        preemptions: the number of times that its first thread lost its core while it was ready to run.
    """

    faults: int
    preemptions: int

    def since(self, before: Disturbances) -> Disturbances:
        """Return the disturbances that came after `before` was read."""
        return Disturbances(self.faults - before.faults, self.preemptions - before.preemptions)


class MemoryUse(NamedTuple):
    """Bytes of memory of a process.

    Attributes:
        resident: the memory that it has now; `peak`: the most that it ever had.
        mapped: size of its address space now; `mapped_peak`: the largest ever.
    """

    resident: int
    peak: int
    mapped: int
    mapped_peak: int


def cpu_s(pid: int) -> float | None:
    """Return the CPU seconds that all threads of a process have used.

    The result is None where they cannot be read. The number of the clock is what clock_getcpuclockid(3) makes of a pid.
    It works for a process that nobody may trace.
    """
    if sys.platform != "linux" or pid <= 0:
        return None
    with contextlib.suppress(OSError):  # it has ended
        return time.clock_gettime_ns((~pid << 3) | 2) / 1e9
    return None


def other_threads_run(pid: int) -> bool:
    """Return True if a thread of a process other than its first runs or is ready to run.

    The result is False if that is not known.
    """
    try:
        others = [name for name in os.listdir(f"/proc/{pid}/task") if name != str(pid)]
    except OSError:
        return False
    return any(_thread_runs(f"/proc/{pid}/task/{name}/stat") for name in others)


def _thread_runs(path: str) -> bool:
    with contextlib.suppress(OSError, IndexError):  # it has ended meanwhile
        return Path(path).read_text("ascii", "replace").rpartition(")")[2].split()[0] == "R"
    return False


def runnable_wait_s(pid: int) -> float | None:
    """Return the seconds for which a process was ready to run and had no core.

    They are those of its first thread. The result is None where the system does not show them.
    """
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[1]) / 1e9
    return None


def disturbances(pid: int) -> Disturbances | None:
    """Return how many page faults and preemptions may have made a process slow so far.

    The result is None where they cannot be read.
    """
    with contextlib.suppress(OSError, IndexError, ValueError, KeyError):
        # Its name stands in brackets and may hold anything. Behind it, minor and major faults are the 8th and 10th.
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        put_off = int(_status_lines(pid, "nonvoluntary_ctxt_switches")["nonvoluntary_ctxt_switches"][0])
        return Disturbances(int(fields[7]) + int(fields[9]), put_off)
    return None


def memory(pid: int) -> MemoryUse | None:
    """Return the bytes of memory of a process, now and at their peak; None if unknown."""
    names = ("VmRSS", "VmHWM", "VmSize", "VmPeak")
    with contextlib.suppress(OSError, KeyError):  # no such files here, or it has ended
        rows = _status_lines(pid, *names)
        return MemoryUse(*(int(rows[name][0]) * 1024 for name in names))
    return None


def _status_lines(pid: int, *names: str) -> dict[str, list[str]]:
    """Return the words of the named lines in /proc/PID/status, by the names of the lines.

    For "VmRSS" it returns a dict such as `{"VmRSS": ["5120", "kB"]}`.
    """
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        rows = (line.split(":", 1) for line in file if line.startswith(names))
        return {name: words.split() for name, words in rows}


def pid_in_proc(proc: int, pid: int) -> int:
    """Return the pid by which a mounted proc file system lists a process.

    A worker that has pid 5 in the sandbox may have pid 4711 in the machine's /proc. The process is this one or a child
    of it.

    Args:
        proc: a descriptor of the proc file system's folder.
        pid: the pid in the process namespace of this process.
    """
    # A pidfd names this very process in each namespace; see proc_pid_fdinfo(5).
    pidfd = os.pidfd_open(pid)
    try:
        return next(
            int(line.split()[1]) for line in _read_in_proc(proc, f"self/fdinfo/{pidfd}").splitlines() if "Pid:" in line
        )
    finally:
        os.close(pidfd)


def memory_of_trees(proc: int, roots: Sequence[int], allowed: int) -> int:
    """Return the bytes of memory that processes and their descendants have together.

    First their resident sizes are added, where shared memory counts several times. If that is above `allowed`, an exact
    sum is returned, in which shared memory counts once.

    Args:
        proc: a descriptor of a proc file system's folder.
        roots: the pids of the processes, as that file system lists them.
        allowed: the bytes that are allowed.
    """
    pids, waiting = list[int](), list(roots)
    while waiting:
        pids.append(pid := waiting.pop())
        with contextlib.suppress(OSError):  # it has ended meanwhile
            for task in _names_in_proc(proc, f"{pid}/task"):
                waiting += map(int, _read_in_proc(proc, f"{pid}/task/{task}/children").split())
    page = os.sysconf("SC_PAGE_SIZE")
    most = sum(int((_read_in_proc_or_empty(proc, f"{pid}/statm") or "0 0").split()[1]) for pid in pids) * page
    if most <= allowed:
        return most
    rows = [line.split() for pid in pids for line in _read_in_proc_or_empty(proc, f"{pid}/smaps_rollup").splitlines()]
    return sum(int(row[1]) for row in rows if row[0] in ("Pss:", "SwapPss:")) * 1024


def _read_in_proc_or_empty(proc: int, path: str) -> str:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return _read_in_proc(proc, path)
    return ""


def _read_in_proc(proc: int, path: str) -> str:
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc), encoding="ascii", errors="replace") as file:
        return file.read()


def _names_in_proc(proc: int, path: str) -> list[str]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.listdir(folder)
    finally:
        os.close(folder)


def reset_peak(pid: int) -> None:
    """Let a process's peak of resident memory begin anew, if the system allows that.

    Then the attribute `peak` of `memory(pid)` has the most since this call.
    """
    with contextlib.suppress(OSError):  # else the peak of its whole life is read: that of loading the file counts, too
        Path(f"/proc/{pid}/clear_refs").write_bytes(RESET)
