"""A worker in a fresh interpreter: for systems where fork is missing or unsafe once torch is imported.

Its channel is its standard input and output; its output goes where standard error goes. It warms up first and says so,
so that one can be kept ready ahead of need.
"""

from __future__ import annotations

import os
import sys

from grader.wire.frames import Channel
from grader.wire.transport import PipeTransport
from grader.worker.confine import WorkerLimits, confine
from grader.worker.serve import serve


def run() -> None:
    """Serve over the standard streams until they close."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  lives as long as the process
    if sys.platform == "win32":
        import msvcrt

        for fd in (read_fd, write_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    elif os.getsid(0) != os.getpid():
        os.setsid()
    channel = Channel(PipeTransport(read_fd, write_fd))
    channel.send(0, {"ready": True})
    birth = channel.receive()
    folder = str(birth.tree["folder"])
    confine(WorkerLimits.read(birth.tree["limits"]), folder)
    serve(channel, folder)
    os._exit(0)
