"""Where a lane's workers come from: a warm server that forks them, or fresh interpreters. Both behind a wall.

What the wall amounts to on this machine is tried out once, while torch is being imported elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import IO, Any, Protocol

from grader.confinement import Reached, Wish, behind_wall, has_walls, try_out, unconfined
from grader.errors import StartError
from grader.processes import isolated, workers_environment
from grader.wire.frames import Channel, ChannelClosed
from grader.wire.transport import PatientPipes

START_S = 180.0
_GRACE_S = 5.0
_CPU_S = 60

CAN_FORK = sys.platform == "linux" and hasattr(os, "memfd_create")
"""Elsewhere fork is missing, or unsafe once torch is imported."""


class Source(Protocol):
    """Where workers come from."""

    def wait_ready(self) -> Reached:
        """Wait until workers can be started; tell how well they are confined.

        Raises:
            StartError: none can.
            ConfinementError: they are confined less well than is asked for.
        """

    def close(self) -> None:
        """End it, and every worker with it."""


class WorkerServer:
    """The warm process that workers are forked from. Open it once, close it."""

    def __init__(self, wish: Wish) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        self._wish = wish
        self._process = subprocess.Popen(
            [*behind_wall(wish, "grader.worker", "server", str(theirs.fileno()), boxes=True), str(os.getpid())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=workers_environment(),
            cwd="/",
            start_new_session=True,  # an interrupt at the terminal is the host's to handle
        )
        theirs.close()
        self._socket = ours
        self._reached: Reached | None = None

    def open_lane(self, lane: int) -> socket.socket:
        """A new socket for a lane's check process.

        Raises:
            StartError: the server did not start.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            socket.send_fds(self._socket, [json.dumps({"do": "lane", "lane": lane}).encode()], [theirs.fileno()])
        except OSError:
            raise StartError(f"the worker server did not start: {tail(self._log)}") from None
        theirs.close()
        return ours

    def wait_ready(self) -> Reached:
        """Wait until it has imported torch and tried how well workers are confined.

        Raises:
            StartError: it did not.
            ConfinementError: they are confined less well than is asked for.
        """
        if self._reached is None:
            refused = self._told()["refused"]

            def ask(targets: dict[str, Any], folders: list[str]) -> tuple[Mapping[str, str], str]:
                message = {"do": "probe", "targets": targets, "folders": folders}
                self._socket.send(json.dumps(message).encode())
                return self._told()["found"], refused

            self._reached = try_out(self._wish, ask)
        return self._reached

    def _told(self) -> dict[str, Any]:
        self._socket.settimeout(START_S)
        try:
            told = self._socket.recv(1 << 16)
        except OSError:
            told = b""
        if not told:
            raise StartError(f"the worker server did not start: {tail(self._log)}")
        message: dict[str, Any] = json.loads(told)
        return message

    def kill_workers(self, lane: int) -> None:
        """End all workers of a lane."""
        with contextlib.suppress(OSError):
            self._socket.send(json.dumps({"do": "kill", "lane": lane}).encode())

    def close(self) -> None:
        """End it; it ends its workers."""
        self._socket.close()
        end(self._process)
        self._log.close()


class FreshInterpreters:
    """Workers as fresh interpreters. Open it once, close it."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._reached: Reached | None = None
        self._trial: subprocess.Popen[bytes] | None = None
        if has_walls():
            self.command = behind_wall(wish, "grader.worker", "spawned", boxes=False)
            self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
            self._trial = subprocess.Popen(
                [*self.command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=workers_environment(),
                cwd="/",
                start_new_session=True,
            )
        else:
            self.command = isolated("grader.worker", "spawned", "{}")

    def wait_ready(self) -> Reached:
        """Try out how well a worker is confined.

        Raises:
            StartError: it did not start.
            ConfinementError: it is confined less well than is asked for.
        """
        if self._reached is None:
            if self._trial is None:
                self._reached = unconfined(f"{sys.platform} has no walls that this grader knows", self._wish)
            else:
                self._reached = try_out(self._wish, self._ask)
        return self._reached

    def _ask(self, targets: dict[str, Any], folders: list[str]) -> tuple[Mapping[str, str], str]:
        assert self._trial is not None
        assert self._trial.stdin is not None
        assert self._trial.stdout is not None
        channel = Channel(PatientPipes(os.dup(self._trial.stdout.fileno()), os.dup(self._trial.stdin.fileno())))
        self._trial.stdin.close()
        self._trial.stdout.close()
        until = time.monotonic() + START_S

        def patience() -> float:
            if time.monotonic() > until:
                raise ChannelClosed("it did not answer")
            return 1.0

        limits = {"cpu_s": _CPU_S, "memory_mb": targets["memory_mb"], "file_mb": 16, "processes": 1}
        try:
            refused = channel.receive(patience).tree["refused"]
            channel.send(0, {"limits": limits, "folder": folders[0], "targets": targets})
            channel.receive(patience)
            found = channel.receive(patience).tree["found"]
        except ChannelClosed:
            raise StartError(f"a worker did not start: {tail(self._log)}") from None
        finally:
            end(self._trial)
            channel.close()
        return {**found, "daemons": found["processes"]}, refused  # what cannot be started does not stay

    def close(self) -> None:
        """End the trial, if it was not waited for."""
        if self._trial is not None:
            self._trial.kill()
            end(self._trial)
            for pipe in (self._trial.stdin, self._trial.stdout):
                if pipe is not None:
                    pipe.close()
            self._log.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that has nothing more to do, a moment; then kill it."""
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def tail(log: IO[bytes]) -> str:
    """The end of what a process said."""
    log.seek(0)
    text = log.read().decode("utf-8", "replace").strip()
    return text[-2000:] or "it said nothing"
