"""Workers as fresh interpreters, without a sandbox."""

from __future__ import annotations

import socket
import subprocess
from typing import IO

from grader.model.messages import Level
from grader.runner.promises import ReachedLevel, SandboxPlan
from grader.runner.worker_source import CheckProcess, Supply, WorkerSource
from grader.sandbox.process import clean_environment, isolated_command, isolated_plain_command
from grader.wire.transport import SocketTransport, pipes_of

_UNCONFINED = (
    "workers that start as fresh interpreters have no sandbox: leave out --start spawn and --device cuda, and on macOS "
    "and Windows use the container"
)


class FreshInterpreters(WorkerSource):
    """Workers as fresh interpreters, each started by the check process of its lane. They have limits and no sandbox.

    Raises:
        ConfinementError: they are to be confined.
    """

    def __init__(self, plan: SandboxPlan) -> None:
        self._reached = ReachedLevel(Level.NONE, [], _UNCONFINED)
        self._reached.require(plan.least)

    def wait_ready(self) -> ReachedLevel:
        """Return the level that workers have without a sandbox; there is nothing to wait for."""
        return self._reached

    def supply(self, lane: int, *, with_plain: bool = False) -> Supply:
        """Return two commands: for workers with PyTorch, and for workers without it."""
        del lane, with_plain
        command, other = (
            isolated_command("grader.worker", "torch", "spawned"),
            isolated_plain_command("grader.worker", "plain", "spawned"),
        )
        return Supply(command=tuple(command), plain_command=tuple(other))

    def open_check_process(self, lane: int, log: IO[bytes], *, with_plain: bool = False) -> CheckProcess:
        """Start the check process of a lane as a fresh interpreter.

        Args:
            lane: the number of the lane.
            log: the file that takes what the process writes to standard error.
            with_plain: True if the lane also needs workers that can import the standard library alone.
        """
        # One thread can wait for a socket with a deadline; a pair of pipes takes two more.
        ends = socket.socketpair() if hasattr(socket, "AF_UNIX") else None
        process = subprocess.Popen(
            isolated_command("grader.check_process"),
            stdin=ends[1].fileno() if ends else subprocess.PIPE,
            stdout=ends[1].fileno() if ends else subprocess.PIPE,
            stderr=log,
            env=clean_environment(PYDANTIC_DISABLE_PLUGINS="__all__"),  # it reads its messages with pydantic
            start_new_session=True,
        )
        if ends:
            ends[1].close()
        transport = SocketTransport(ends[0]) if ends else pipes_of(process)
        supply = self.supply(lane, with_plain=with_plain)
        return CheckProcess(process, transport, supply.command, supply.plain_command)
