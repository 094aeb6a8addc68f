"""Where a lane's workers come from: a warm server that forks them, or fresh interpreters. Both behind a wall.

What the wall amounts to on this machine is tried out once, while torch is being imported elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import TypeVar

from grader.model.errors import ConfinementError, StartError
from grader.model.messages import Start
from grader.runner.deadline import Late, until
from grader.runner.supply import Source, Supply
from grader.runner.walls import Reached, WallPlan, behind_wall, has_walls, try_out, unconfined
from grader.sandbox.end import end, tail
from grader.sandbox.limits import WorkerLimits
from grader.sandbox.messages import (
    Awake,
    Birth,
    EndWorkers,
    Found,
    Launched,
    Message,
    OpenLane,
    Ready,
    TryWall,
    from_text,
    from_tree,
    to_text,
    to_tree,
)
from grader.sandbox.start import isolated, workers_environment
from grader.wire.bounds import ChannelClosed
from grader.wire.frames import Channel
from grader.wire.transport import PatientPipes

START_S = 180.0
_CPU_S = 60
_FILE_MB = 16
_MESSAGE_BYTES = 1 << 16
_ENDS_S = 0.3
"""From the death of the worker server to that of the launcher, which is what is seen from here."""

CAN_FORK = sys.platform == "linux" and hasattr(os, "memfd_create")
"""Elsewhere fork is missing, or unsafe once torch is imported."""

Kind = TypeVar("Kind", bound=Message)


def open_source(start: Start, plan: WallPlan) -> Source:
    """Where workers come from that start in this way."""
    return WorkerServer(plan) if start is Start.FORK else FreshInterpreters(plan)


class WorkerServer:
    """The warm process that workers are forked from."""

    def __init__(self, plan: WallPlan) -> None:
        self._plan = plan
        self._lock = threading.RLock()  # of lanes that work at once, one asks at a time
        self._life = 0
        self._before: Reached | None = None
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        self._process = subprocess.Popen(
            [*behind_wall(self._plan, "grader.worker", "server", str(theirs.fileno()), boxes=True), str(os.getpid())],
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
        self._refused: ConfinementError | None = None

    def wait_ready(self) -> Reached:
        """Wait until it has imported torch and tried how well workers are confined."""
        with self._lock:
            if self._refused is not None:  # it answers once, and each lane asks
                raise self._refused
            try:
                return self._reached or self._tried()
            except ConfinementError as error:
                self._refused = error
                raise

    def _tried(self) -> Reached:
        # Two answers: that torch is imported, and then, on demand, what workers can do.
        refused = self._told(Ready).refused

        def ask(targets: TryWall) -> tuple[Mapping[str, str], str]:
            self._socket.send(to_text(targets).encode())
            return self._told(Found).found, refused

        self._reached = try_out(self._plan, ask)
        # Reports have told the level by now; a successor must not be worse.
        if self._before is not None and self._reached.level < self._before.level:
            was, now = self._before.level.word, self._reached.level.word
            raise StartError(f"the worker server was lost, and its successor reaches {now} where it had {was}")
        return self._reached

    def _told(self, kind: type[Kind]) -> Kind:
        self._socket.settimeout(START_S)
        try:
            told = self._socket.recv(_MESSAGE_BYTES)
        except OSError:
            told = b""
        if not told:
            raise StartError(f"the worker server did not start: {tail(self._log)}")
        message = from_text(told)
        assert isinstance(message, kind)
        return message

    def supply(self, lane: int) -> Supply:
        """A new socket to it, or to its successor."""
        with self._lock:
            # Asked, and not waited for: most lanes are opened when it has just been started. One that ends just now
            # refuses the socket.
            if self._process.poll() is None:
                with contextlib.suppress(StartError):
                    return Supply(server=self.open_lane(lane), life=self._life)
            if self.was_lost(self._life):
                self._before = self._reached
                self.close()
                self._life += 1
                self._start()
            return Supply(server=self.open_lane(lane), life=self._life)

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
            socket.send_fds(self._socket, [to_text(OpenLane(lane)).encode()], [theirs.fileno()])
        except OSError:
            ours.close()
            raise StartError(f"the worker server did not start: {tail(self._log)}") from None
        finally:
            theirs.close()  # handed over or not: the server is to be the only one to hold it
        return ours

    def end_workers(self, lane: int) -> bool:
        """Tell the server, which ends them at once."""
        with contextlib.suppress(OSError):  # it is gone, and they with it
            self._socket.send(to_text(EndWorkers(lane)).encode())
        return True

    def close(self) -> None:
        """End it; it ends its workers."""
        self._socket.close()
        end(self._process)
        self._log.close()


class FreshInterpreters:
    """Workers as fresh interpreters. One is started at once, to try its wall, where there are walls at all."""

    def __init__(self, plan: WallPlan) -> None:
        self._plan = plan
        self._reached: Reached | None = None
        self._trial: subprocess.Popen[bytes] | None = None
        # Nothing to try: the level is known, and a spare interpreter would be for nothing.
        if not has_walls():
            self._command = (*isolated("grader.worker", "spawned", to_text(Launched())),)
            return
        # The trial falls back, to show what there is; the others must not, should the kernel refuse later what it gave.
        trial = behind_wall(plan, "grader.worker", "spawned", boxes=False)
        self._command = (*behind_wall(plan, "grader.worker", "spawned", boxes=False, least=plan.least),)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        self._trial = subprocess.Popen(
            [*trial, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=workers_environment(),
            cwd="/",
            start_new_session=True,
        )

    def wait_ready(self) -> Reached:
        """Try out how well a worker is confined."""
        if self._reached is None:
            if self._trial is None:
                self._reached = unconfined(f"{sys.platform} has no walls that this grader knows", self._plan)
            else:
                self._reached = try_out(self._plan, self._ask)
        return self._reached

    def _ask(self, asked: TryWall) -> tuple[Mapping[str, str], str]:
        assert self._trial is not None
        assert self._trial.stdin is not None
        assert self._trial.stdout is not None
        channel = Channel(PatientPipes(os.dup(self._trial.stdout.fileno()), os.dup(self._trial.stdin.fileno())))
        self._trial.stdin.close()
        self._trial.stdout.close()
        patience = until(time.monotonic() + START_S)
        limits = WorkerLimits(cpu_s=_CPU_S, memory_mb=asked.targets.memory_mb, file_mb=_FILE_MB, processes=1)
        try:
            awake = from_tree(channel.receive(patience).tree)
            assert isinstance(awake, Awake)
            channel.send(0, to_tree(Birth(asked.folders[0], limits, asked.targets)))
            # A word of its own, so that a wall which fails is told apart from probes that do.
            channel.receive(patience)  # it is confined
            told = from_tree(channel.receive(patience).tree)
            assert isinstance(told, Found)
        except (ChannelClosed, Late):
            raise StartError(f"a worker did not start: {tail(self._log)}") from None
        finally:
            end(self._trial)
            channel.close()
        return {**told.found, "daemons": told.found["processes"]}, awake.refused  # what cannot start does not stay

    def supply(self, lane: int) -> Supply:
        """The command that starts one."""
        del lane
        return Supply(command=self._command)

    def was_lost(self, life: int) -> bool:
        """Each is started for itself."""
        del life
        return False

    def end_workers(self, lane: int) -> bool:
        """They are known to the lane's check process alone."""
        del lane
        return False

    def close(self) -> None:
        """End the trial, if it was not waited for."""
        if self._trial is not None:
            self._trial.kill()
            end(self._trial)
            for pipe in (self._trial.stdin, self._trial.stdout):
                if pipe is not None:
                    pipe.close()
            self._log.close()
