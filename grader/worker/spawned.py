"""A worker in a fresh interpreter: for systems where fork is missing or unsafe once torch is imported.

Its channel is its standard input and output; its output goes where standard error goes. It warms up first and says so,
so that one can be kept ready ahead of need.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from grader.confine import probes
from grader.confine.limits import WorkerLimits
from grader.confine.wall import Bare, Full, Reduced, Wall
from grader.wire.frames import Channel
from grader.wire.transport import PipeTransport
from grader.worker import device
from grader.worker.serve import serve


def run(told: dict[str, Any]) -> None:
    """Serve over the standard streams until they close.

    Args:
        told: what `grader.confine.launch` reached; nothing if it was not used.
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  lives as long as the process
    if sys.platform == "win32":
        import msvcrt

        for fd in (read_fd, write_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    device.preload()
    wall = _wall(told)
    channel = Channel(PipeTransport(read_fd, write_fd))
    channel.send(0, {"pid": _pid_outside(told), "refused": told.get("refused", "")})
    wall.surrender()
    birth = channel.receive().tree
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    folder = wall.settle(WorkerLimits.read(birth["limits"]), birth["folder"])
    channel.send(0, {"settled": True})
    if "targets" in birth:
        channel.send(0, {"found": probes.try_all(birth["targets"])})
    else:
        serve(channel, folder)
    os._exit(0)


def _wall(told: dict[str, Any]) -> Wall:
    if "proc" in told:
        return Full(told["proc"])
    return Reduced(told["readable"]) if told.get("readable") else Bare()


def _pid_outside(told: dict[str, Any]) -> int:
    """This process's number as the grader sees it."""
    if "proc" not in told:
        return os.getpid()
    try:
        return int(os.readlink("self", dir_fd=told["proc"]))
    finally:
        os.close(told["proc"])
