"""Workers as fresh interpreters, one kept warm ahead: for systems where fork is missing, or unsafe after torch."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.connection.process import GRACE_S, Starter, WorkerProcess
from grader.connection.starting import caps_of, first_words, worker_limits
from grader.model import Limits
from grader.sandbox.messages import Awake, Birth, from_tree, to_tree
from grader.sandbox.start import workers_environment
from grader.wire.bounds import ChannelClosed
from grader.wire.frames import Channel
from grader.wire.transport import PatientPipes

_ROOM_MB = 16 << 20
"""Address space that CUDA takes for a map of all memory, its own and the host's; it is not used memory."""


class SpawnStarter(Starter):
    """Starts a fresh interpreter for each worker and keeps one warm spare. Needs neither fork nor Unix sockets.

    Args:
        root: a private folder for the workers' folders.
        command: starts an interpreter, behind a wall if there is one.
        on_start: told the pid of each, so that the host can end what outlives this process.
        roomy: whether they need address space for CUDA.
    """

    def __init__(
        self, root: Path, command: Sequence[str], on_start: Callable[[int], None], *, roomy: bool = False
    ) -> None:
        super().__init__(root)
        self._room_mb = _ROOM_MB if roomy else 0
        self._command = command
        self._on_start = on_start
        self._spare: WorkerProcess | None = self._spawn()

    def _spawn(self) -> WorkerProcess:
        folder, output = self.new_places()
        with output.open("ab") as sink:
            # Its output is what goes to standard error: standard input and output are the channel. A session of its own
            # lets `kill` end what it started, too.
            process = subprocess.Popen(
                [*self._command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=workers_environment(),
                cwd=folder,
                start_new_session=True,
            )
        # Before anything else can fail: should this process be killed, the host ends what it knows of.
        self._on_start(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        # Duplicated, and Popen's own ends closed: the transport alone owns the channel.
        transport = PatientPipes(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        process.stdin.close()
        process.stdout.close()
        return WorkerProcess(Channel(transport), _Spawned(process), folder, output, Limits())

    def start_worker(self, limits: Limits, *, spared: bool = False, simulates: bool = False) -> WorkerProcess:
        """The warm spare; another is started to take its place."""
        del spared, simulates  # the host ends the whole lane; what was not imported ahead is imported when it is used
        # Importing torch takes a while. A spare has had that time already; there is none after a start that failed.
        worker = self._spare or self._spawn()
        self._spare = None
        worker.limits, worker.channel.caps = limits, caps_of(limits)
        awake = from_tree(first_words(worker).tree)
        assert isinstance(awake, Awake)
        # Inside a namespace the process that we started is a launcher; its worker says which number to measure, before
        # it has loaded anything.
        worker.life.pid = awake.pid
        with contextlib.suppress(ChannelClosed):  # which is met by the wait for its answer
            worker.channel.send(0, to_tree(Birth(str(worker.folder), worker_limits(limits, self._room_mb))))
        # Started now, so that it imports torch while this worker is at work.
        self._spare = self._spawn()
        first_words(worker)
        return worker

    def close(self) -> None:
        """End the spare."""
        if self._spare is not None:
            self._spare.close()


@dataclass
class _Spawned:
    process: subprocess.Popen[bytes]
    pid: int = 0

    def kill(self) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()

    def signal(self, number: int) -> None:
        # By the number that it told: the process that we started may be a launcher.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, number)

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        # There is no server here to tell of the end, so it is waited for: a folder is swept once nothing writes there.
        self.exit_code()
        clean_up()

    def ran_out_of_memory(self) -> bool:
        return False

    def cpu_at_end(self) -> float | None:
        return None

    def exit_code(self) -> int | None:
        try:
            return self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return None
