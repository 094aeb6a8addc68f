"""Runs a command as its last ancestor, and tells what it leaves behind: `keeper.py REPORT SECONDS FOLDER COMMAND...`.

Orphans of the command become children of this process, whatever they do to their session, group, name or environment.
Meanwhile it watches how much of memory and disk is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_EVERY_S = 0.1
_GRACE_S = 3.0


def main() -> None:
    """Run, watch, tell, and end what is left."""
    report, seconds, folder, *command = sys.argv[1:]
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl refuses PR_SET_CHILD_SUBREAPER")
    before = lowest = _free(folder)
    until = time.monotonic() + float(seconds)
    process = subprocess.Popen(command)
    status, largest = None, (0, "none")
    while status is None and time.monotonic() < until:
        time.sleep(_EVERY_S)
        lowest = {name: min(lowest[name], left) for name, left in _free(folder).items()}
        largest = max([largest, *((_most_memory(pid), _words(pid)) for pid in _descendants())])
        status = _reap(process.pid)
    until = time.monotonic() + _GRACE_S
    while (left := _descendants()) and time.monotonic() < until and status is not None:
        time.sleep(_EVERY_S)
        _reap(-1)
    used = {name: before[name] - lowest[name] for name in before} | {"the largest process": largest[0]}
    found = {"status": status, "left": [_words(pid) for pid in left], "used": used, "largest": largest[1]}
    Path(report).write_text(json.dumps(found), encoding="utf-8")
    while left := _descendants():
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_EVERY_S)
        _reap(-1)


def _reap(wanted: int) -> int | None:
    """Take leave of all children that have ended; the status of the wanted one, if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == wanted:
            found = os.waitstatus_to_exitcode(status)


def _descendants() -> list[int]:
    """Living processes that descend from this one."""
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                state, parent = Path(entry.path, "stat").read_text(encoding="latin-1").rpartition(") ")[2].split()[:2]
                if state != "Z":
                    parents[int(entry.name)] = int(parent)
    found: set[int] = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def _most_memory(pid: int) -> int:
    """The most bytes that a process has ever held."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").split("\n")
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return 0


def _words(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[-200:]
        return f"{pid} {Path(f'/proc/{pid}/comm').read_text(encoding='latin-1').strip()} ... {line}"
    except OSError:
        return str(pid)


def _free(folder: str) -> dict[str, int]:
    """Bytes that are free: of memory, of the disk that holds a folder, of the memory disk."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").split("\n")
    free = {"memory": next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))}
    for name in (folder, "/tmp", "/dev/shm"):
        with contextlib.suppress(OSError):
            status = os.statvfs(name)
            free[name] = status.f_bavail * status.f_frsize
            free[f"files in {name}"] = status.f_favail
    return free


if __name__ == "__main__":
    main()
