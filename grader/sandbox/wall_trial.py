"""What can workers do here? Tried in throw-away workers, born like all others."""

from __future__ import annotations

import json
import os
import select
import time

from grader.sandbox import kernel, trials
from grader.sandbox.levels import PROMISES
from grader.sandbox.limits import WorkerLimits
from grader.sandbox.messages import TryWall
from grader.sandbox.wall import Wall

_PROBES_S = 60.0
_DAEMON_S = 0.5
_CPU_S = 30
_FILE_MB = 16


def try_wall(wall: Wall, asked: TryWall) -> dict[str, str]:
    """What each probe found, by name; see `grader.sandbox.levels`.

    Args:
        wall: how workers are confined.
        asked: what the probes try to reach.
    """
    try:
        return _try_wall(wall, asked)
    except OSError as error:  # the system gave a worker when the wall was built, and gives none now
        return {promise.name: f"no worker could be started to try it: {error}" for promise in PROMISES}


def _try_wall(wall: Wall, asked: TryWall) -> dict[str, str]:
    read, write = os.pipe()
    pid = wall.fork()
    if pid == 0:
        try:
            # As for an exercise that allows no process, which is what most of them do.
            _be_born(wall, write, asked.folders[0], 1, asked.targets.memory_mb)
            os.write(write, json.dumps(trials.try_all(asked.targets)).encode())
        finally:
            os._exit(0)
    # With our own end open, reading would not end when the worker does.
    os.close(write)
    told = _read_all(read, _PROBES_S)
    wall.end(pid)
    os.waitpid(pid, 0)
    found: dict[str, str] = json.loads(told) if told else {}
    return {**found, "daemons": _what_a_daemon_does(wall, asked.folders[1], asked.targets.memory_mb)}


def _what_a_daemon_does(wall: Wall, folder: str, memory_mb: int) -> str:
    read, write = os.pipe()
    pid = wall.fork()
    if pid == 0:
        try:
            # With processes allowed, where a wall allows any: else no daemon could be left, and the probe would show
            # nothing.
            _be_born(wall, write, folder, 8, memory_mb)
            trials.leave_a_daemon()
            os.write(write, b"left")
        finally:
            os._exit(0)
    os.close(write)
    # Waited for before its box is ended: it is to leave the daemon behind and go by itself, as a student's code would.
    # Not reaped yet, as in the server: its number could be another process's by the time that what it left is ended.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wall.end(pid)
    os.waitpid(pid, 0)
    # A daemon that lives on holds the pipe open.
    told = _read_all(read, _DAEMON_S)
    if told is None:
        return "a process stayed"
    return "" if told == b"left" else "its probe did not answer"


def _be_born(wall: Wall, kept: int, folder: str, processes: int, memory_mb: int) -> None:
    wall.give_up_rights()
    kernel.close_all_but(kept)
    wall.confine(WorkerLimits(_CPU_S, memory_mb, _FILE_MB, processes), folder)


def _read_all(descriptor: int, seconds: float) -> bytes | None:
    """What comes until the other end is closed everywhere, or None if it is still open after a while."""
    said = b""
    until = time.monotonic() + seconds
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        while poll.poll(max(0.0, until - time.monotonic()) * 1000):
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return said
            said += chunk
        return None
    finally:
        os.close(descriptor)
