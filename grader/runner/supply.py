"""What lanes ask of where their workers come from, and what they are given."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol

from grader.runner.walls import Reached


@dataclass(frozen=True)
class Supply:
    """What the check process of a lane is given, to start workers with.

    Attributes:
        server: a socket to the worker server, which is the lane's to close, or None.
        command: what starts a fresh interpreter; empty where there is a server.
        life: which server it is, counted from 0: one that was lost has a successor.
    """

    server: socket.socket | None = None
    command: tuple[str, ...] = ()
    life: int = 0


class Source(Protocol):
    """Where workers come from. Open it once, close it."""

    def wait_ready(self) -> Reached:
        """Wait until workers can be started; tell how well they are confined.

        Raises:
            StartError: none can.
            ConfinementError: they are confined less well than is asked for.
        """

    def supply(self, lane: int) -> Supply:
        """What a lane's check process starts its workers with. What was lost is started again.

        Raises:
            StartError: the worker server did not start.
        """

    def was_lost(self, life: int) -> bool:
        """Whether what was supplied in this life gives no more workers, although nobody ended it."""

    def end_workers(self, lane: int) -> bool:
        """End the workers of a lane that are not spared; False if only ending the whole lane does that."""

    def close(self) -> None:
        """End it, and every worker with it."""
