"""What a source of workers does for its lanes: it starts check processes, supplies workers, and ends them."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.runner.promises import ReachedLevel
from grader.runner.zygote_client import ForkedProcess
from grader.wire.transport import Transport


def torch_file() -> Path | None:
    """Return a file of the installed PyTorch; None if PyTorch is not installed.

    Workers without PyTorch must not be able to read this file.
    """
    found = importlib.util.find_spec("torch")
    return Path(found.origin) if found is not None and found.origin else None


CAN_FORK = sys.platform == "linux" and hasattr(os, "memfd_create")
"""Elsewhere fork is missing, or unsafe once torch is imported."""


@dataclass(frozen=True)
class CheckProcess:
    """The check process of a lane.

    Attributes:
        process: itself.
        transport: the host's end of its channel.
        command: the command that starts workers, if these are fresh interpreters; else empty.
        plain_command: the same for workers that have the standard library alone.
        generation: the number of its worker server, see `Supply`.
    """

    process: ForkedProcess | subprocess.Popen[bytes]
    transport: Transport
    command: tuple[str, ...] = ()
    plain_command: tuple[str, ...] = ()
    generation: int = 0


@dataclass(frozen=True)
class Supply:
    """The sockets and commands by which the check process of a lane starts workers.

    Attributes:
        server: a socket to the worker server, which is the lane's to close, or None.
        plain: one to the server whose workers have the standard library alone, or None.
        command: the command that starts a fresh interpreter; empty where there is a server.
        plain_command: the command that starts one that has the standard library alone.
        generation: the number of the server, from 0: one that was lost has a successor.
    """

    server: socket.socket | None = None
    plain: socket.socket | None = None
    command: tuple[str, ...] = ()
    plain_command: tuple[str, ...] = ()
    generation: int = 0


class WorkerSource:
    """A source of workers: a server that forks them, or fresh interpreters.

    Open it once, close it.
    """

    def wait_ready(self) -> ReachedLevel:
        """Wait until workers can be started; return the level of confinement that they reach.

        Raises:
            StartError: no worker can be started.
            ConfinementError: workers are confined less well than is wanted.
        """
        raise NotImplementedError

    def supply(self, lane: int, *, with_plain: bool = False) -> Supply:
        """Return the sockets or commands by which a lane's check process starts workers.

        A worker server that was lost is replaced first.

        Args:
            lane: the number of the lane.
            with_plain: True if the lane also needs workers that can import the standard library alone.

        Raises:
            StartError: the worker server did not start.
        """
        raise NotImplementedError

    def open_check_process(self, lane: int, log: IO[bytes], *, with_plain: bool = False) -> CheckProcess:
        """Start the check process of a lane.

        Args:
            lane: the number of the lane.
            log: the file that takes what the process writes to standard error.
            with_plain: True if the lane also needs workers that can import the standard library alone.

        Raises:
            StartError: the worker server did not start.
        """
        raise NotImplementedError

    def was_lost(self, generation: int) -> bool:
        """Return True if the worker server of this generation was lost.

        The first server has the generation 0, and its successor 1. A server is lost if it ends and the host did not end
        it.
        """
        return False

    def end_workers(self, lane: int) -> bool:
        """End the workers of a lane at once; return False if this source cannot do that.

        Workers of references go on.
        """
        return False

    def close(self) -> None:
        """Close the source, which ends all of its workers."""
