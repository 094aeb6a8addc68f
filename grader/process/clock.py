"""What the system tells of a process from outside: nothing that the process says of itself. Linux; elsewhere None."""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple


class Disturbances(NamedTuple):
    """What may have made a process slow, counted since its start.

    Attributes:
        faults: of memory, of all its threads: each is a page that was not there yet.
        preemptions: how often its first thread was put off its core while it wanted to run.
    """

    faults: int
    preemptions: int

    def since(self, before: Disturbances) -> Disturbances:
        """Those that came after others."""
        return Disturbances(self.faults - before.faults, self.preemptions - before.preemptions)


def cpu_s(pid: int) -> float | None:
    """CPU seconds that a process has used, all its threads; None where that cannot be read.

    The number of the clock is what clock_getcpuclockid(3) makes of a pid. It works for a process that nobody may trace.
    """
    used = _cpu_ns(pid)
    return None if used is None else used / 1e9


def _cpu_ns(pid: int) -> int | None:
    if sys.platform != "linux" or pid <= 0:
        return None
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:  # it has ended
        return None


def other_threads_ns(pid: int) -> tuple[int, int] | None:
    """CPU nanoseconds of all threads but the first, those that have ended too: between which two they lie.

    None where it cannot be told. They are equal while the first thread sleeps, as in a worker that is asked nothing.
    """
    before, whole, after = _first_thread_ns(pid), _cpu_ns(pid), _first_thread_ns(pid)
    if whole is None or not before or not after:
        return None
    # The kernel adds up the same numbers for the clock of the process, so that the difference is exact.
    return whole - after, whole - before


def _first_thread_ns(pid: int) -> int:
    """CPU nanoseconds of the first thread; 0 where they are not told."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])
    except (OSError, IndexError, ValueError):
        return 0


def threads(pid: int) -> int | None:
    """How many threads a process has now; None where that is not told."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return None


def others_run(pid: int) -> bool:
    """Whether a thread but the first runs or is ready to; False where that is not told."""
    try:
        others = [name for name in os.listdir(f"/proc/{pid}/task") if name != str(pid)]
    except OSError:
        return False
    return any(_runs(f"/proc/{pid}/task/{name}/stat") for name in others)


def _runs(path: str) -> bool:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "R"
    except (OSError, IndexError):  # it has ended meanwhile
        return False


def waited_s(pid: int) -> float | None:
    """Seconds that a process was ready to run and had no core, its first thread alone; None where it is not told."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def disturbances(pid: int) -> Disturbances | None:
    """What may have made a process slow; None where that cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            # Its name stands in brackets and may hold anything. Behind it, minor and major faults are the 8th and 10th.
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            put_off = next(line for line in file if line.startswith("nonvoluntary_ctxt_switches:"))
        return Disturbances(int(fields[7]) + int(fields[9]), int(put_off.split()[1]))
    except (OSError, IndexError, ValueError, StopIteration):
        return None


def resident(pid: int) -> tuple[int, int] | None:
    """Bytes of memory that a process has now, and the most that it ever had; None where that cannot be read."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            told = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS:", "VmHWM:")))
        return int(told["VmRSS"].split()[0]) * 1024, int(told["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):  # no such files here, or it has ended
        return None
