"""Where a lane's workers come from: a warm server that forks confined ones, or fresh interpreters without a sandbox.

How well workers are confined on this machine is tried out once, while torch is being imported elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from grader.model.errors import StartError
from grader.model.messages import Level, Start
from grader.runner.confinement import Reached, SandboxPlan, try_out
from grader.sandbox import messages
from grader.sandbox.messages import LaunchPlan, Message, TryOut, receive, send, to_text
from grader.sandbox.process import end, interpreter_paths, isolated, tail, workers_environment
from grader.sandbox.view import View

START_S = 180.0
_ENDS_S = 0.3
"""From the death of the worker server to that of the launcher, which is what is seen from here."""

CAN_FORK = sys.platform == "linux" and hasattr(os, "memfd_create")
"""Elsewhere fork is missing, or unsafe once torch is imported."""

_UNCONFINED = (
    "workers that start as fresh interpreters have no sandbox: leave out --start spawn and --device cuda, and on macOS "
    "and Windows use the container"
)

Kind = TypeVar("Kind", bound=Message)


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


class Source:
    """Where workers come from. Open it once, close it."""

    def wait_ready(self) -> Reached:
        """Wait until workers can be started; say how well they are confined.

        Raises:
            StartError: none can.
            ConfinementError: they are confined less well than is wanted.
        """
        raise NotImplementedError

    def supply(self, lane: int) -> Supply:
        """What a lane's check process starts its workers with. What was lost is started again.

        Raises:
            StartError: the worker server did not start.
        """
        raise NotImplementedError

    def was_lost(self, life: int) -> bool:
        """Whether what was supplied in this life gives no more workers, although the host did not end it."""
        return False

    def end_workers(self, lane: int) -> bool:
        """End the workers of a lane that are not spared; False if only ending the whole lane does that."""
        return False

    def close(self) -> None:
        """End it, and every worker with it."""


def open_source(start: Start, plan: SandboxPlan) -> Source:
    """Where workers come from that start in this way."""
    return WorkerServer(plan) if start is Start.FORK else FreshInterpreters(plan)


class WorkerServer(Source):
    """The warm process that workers are forked from."""

    def __init__(self, plan: SandboxPlan) -> None:
        self._plan = plan
        self._lock = threading.RLock()  # of lanes that work at once, one asks at a time
        self._life = 0
        self._before: Reached | None = None
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        view = View(tuple(interpreter_paths()), tuple(os.path.realpath(path) for path in self._plan.hidden))
        server, most = isolated("grader.worker", "server", str(theirs.fileno())), self._plan.most
        plan = LaunchPlan(view, tuple(server), most is Level.FULL, most > Level.NONE)
        self._process = subprocess.Popen(
            isolated("grader.sandbox.launch", to_text(plan), str(os.getpid())),
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

    def wait_ready(self) -> Reached:
        """Wait until it has imported torch and tried how well workers are confined."""
        with self._lock:
            self._reached = self._reached or self._tried()  # it answers once, and each lane asks
        # Reports have named the level by now; a successor must not be worse.
        if self._before is not None and self._reached.level < self._before.level:
            was, now = self._before.level.word, self._reached.level.word
            raise StartError(f"the worker server was lost, and its successor reaches {now} where it had {was}")
        self._reached.require(self._plan.least)
        return self._reached

    def _tried(self) -> Reached:
        # Two answers: that torch is imported, and then, on demand, what workers can do.
        refused = self._answer(messages.Ready).refused

        def ask(targets: TryOut) -> Mapping[str, str]:
            send(self._socket, targets)
            return self._answer(messages.Found).results

        return try_out(self._plan, refused, ask)

    def _answer(self, kind: type[Kind]) -> Kind:
        self._socket.settimeout(START_S)
        message = None
        with contextlib.suppress(TimeoutError):
            message, _ = receive(self._socket)
        if not isinstance(message, kind):
            raise StartError(f"the worker server did not start: {tail(self._log)}")
        return message

    def supply(self, lane: int) -> Supply:
        """A new socket to it, or to its successor."""
        with self._lock:
            try:
                # Not waited for: most lanes are opened when it has just been started.
                return Supply(self.open_lane(lane), life=self._life)
            except StartError:
                if not self.was_lost(self._life):
                    raise
            self._before = self._reached
            self.close()
            self._life += 1
            self._start()
            return Supply(self.open_lane(lane), life=self._life)

    def was_lost(self, life: int) -> bool:
        """Whether the process has ended, or ends just now."""
        with self._lock, contextlib.suppress(subprocess.TimeoutExpired):
            if life == self._life:
                self._process.wait(_ENDS_S)
        return life != self._life or self._process.returncode is not None

    def open_lane(self, lane: int) -> socket.socket:
        """A new socket to it, for a lane's check process.

        Raises:
            StartError: it did not start.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            send(self._socket, messages.OpenLane(lane), [theirs.fileno()])
        except OSError:
            ours.close()
            raise StartError(f"the worker server did not start: {tail(self._log)}") from None
        finally:
            theirs.close()  # handed over or not: the server is to be the only one to hold it
        return ours

    def end_workers(self, lane: int) -> bool:
        """Tell the server, which ends them at once."""
        with contextlib.suppress(OSError):  # it is gone, and they with it
            send(self._socket, messages.EndWorkers(lane))
        return True

    def close(self) -> None:
        """End it; it ends its workers."""
        self._socket.close()
        end(self._process)
        self._log.close()


class FreshInterpreters(Source):
    """Workers as fresh interpreters, each started by the check process of its lane. They have limits and no sandbox.

    Raises:
        ConfinementError: they are to be confined.
    """

    def __init__(self, plan: SandboxPlan) -> None:
        self._reached = Reached(Level.NONE, [], _UNCONFINED)
        self._reached.require(plan.least)

    def wait_ready(self) -> Reached:
        """There is nothing to wait for, and nothing to try."""
        return self._reached

    def supply(self, lane: int) -> Supply:
        """The command that starts one."""
        del lane
        return Supply(command=tuple(isolated("grader.worker", "spawned")))
