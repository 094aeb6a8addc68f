"""What the system tells of a process from outside: nothing that the process says of itself. Linux; elsewhere None."""

from __future__ import annotations

import sys
import time


def cpu_s(pid: int) -> float | None:
    """CPU seconds that a process has used, all its threads; None where that cannot be read.

    The number of the clock is what clock_getcpuclockid(3) makes of a pid. It works for a process that nobody may trace.
    """
    if sys.platform != "linux" or pid <= 0:
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:  # it has ended
        return None


def waited_s(pid: int) -> float | None:
    """Seconds that a process was ready to run and had no core, its first thread alone; None where it is not told."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def resident(pid: int) -> tuple[int, int] | None:
    """Bytes of memory that a process has now, and the most that it ever had; None where that cannot be read."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            told = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS:", "VmHWM:")))
        return int(told["VmRSS"].split()[0]) * 1024, int(told["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):  # no such files here, or it has ended
        return None
