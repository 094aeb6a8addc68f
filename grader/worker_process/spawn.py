"""Start workers as fresh interpreters, for systems where fork is missing or unsafe once torch is imported.

One spare is kept warm ahead of need.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.model import Limits
from grader.sandbox.datagrams import to_tree
from grader.sandbox.fork_messages import Ended
from grader.sandbox.process import workers_environment
from grader.sandbox.start_messages import StartWorker
from grader.wire.frames import Channel
from grader.wire.transport import ChannelClosed, pipes_of
from grader.worker_process.process import GRACE_S, WorkerProcess
from grader.worker_process.starter import Starter, await_progress, caps_of, worker_limits

_ROOM_MB = 16 << 20
"""Address space that CUDA takes for a map of all memory, its own and the host's; it is not used memory."""


class SpawnStarter(Starter):
    """Starts a fresh interpreter for each worker and keeps one warm spare. Needs neither fork nor Unix sockets.

    Args:
        root: a private folder for the workers' folders.
        command: starts an interpreter.
        on_start: called with the pid of each, so that the host can end what outlives this process.
        roomy: True if they need address space for CUDA.
        plain: starts an interpreter that has the standard library alone.
        spares: the kinds of spares that are started at once: False for those with PyTorch, True for plain ones.
    """

    def __init__(
        self,
        root: Path,
        command: Sequence[str],
        on_start: Callable[[int], None],
        *,
        roomy: bool = False,
        plain: Sequence[str] = (),
        spares: Collection[bool] = (False,),
    ) -> None:
        super().__init__(root)
        self._room_mb = _ROOM_MB if roomy else 0
        self._commands = {False: command, True: plain}
        self._on_start = on_start
        self._spares: dict[bool, WorkerProcess] = {kind: self._spawn(without_torch=kind) for kind in spares}

    def _spawn(self, *, without_torch: bool = False) -> WorkerProcess:
        """Start a worker in a fresh interpreter, in a session and a folder of its own.

        The host gets its pid by the callback `on_start`.
        """
        folder, output = self.new_folder_and_output()
        with output.open("ab") as sink:
            # Its output is what goes to standard error: standard input and output are the channel. A session of its own
            # lets `kill` end what it started, too.
            process = subprocess.Popen(
                self._commands[without_torch],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=workers_environment(),
                cwd=folder,
                start_new_session=True,
            )
        # Before anything else can fail: should this process be killed, the host ends what it knows of.
        self._on_start(process.pid)
        given = Channel(pipes_of(process)), process.pid, folder, output, Limits()
        return _Spawned(*given, process, waiting=self.waiting)

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, without_torch: bool = False
    ) -> WorkerProcess:
        """Return a confined worker: the spare one, or a new one if no spare is left.

        Then start another spare.

        Args:
            limits: the limits on the worker's time and memory.
            spared: True if the worker survives when an exercise takes too long and the lane's other workers are ended.
            simulates: True if the worker will see a simulated accelerator.
            without_torch: True if the worker has the standard library alone, without PyTorch and NumPy.
        """
        del simulates  # the host ends the whole lane; what was not imported ahead is imported when it is used
        # Importing torch takes a while. A spare has had that time already; a start that failed leaves no spare.
        worker = self._spares.pop(without_torch, None) or self._spawn(without_torch=without_torch)
        self.started += 1
        worker.limits, worker.channel.caps = limits, caps_of(limits)
        await_progress(worker)  # that it is warm
        wanted = StartWorker(str(worker.folder), worker_limits(limits, self._room_mb), spared)
        with contextlib.suppress(ChannelClosed):  # which is met by the wait for its answer
            worker.channel.send(0, to_tree(wanted))
        await_progress(worker)  # that it is confined
        # Started now and not before, so that it imports torch while this worker is at work, and does not delay it.
        self._spares[without_torch] = self._spawn(without_torch=without_torch)
        return worker

    def close(self) -> None:
        """End the spare workers."""
        for spare in self._spares.values():
            spare.close()


@dataclass(eq=False)
class _Spawned(WorkerProcess):
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, number)

    def remove_files_when_gone(self) -> None:
        # No server here says that it ended, so it is waited for: a folder is swept once nothing writes there.
        self.await_end()
        self.remove_files()

    def await_end(self) -> Ended | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return Ended(self.process.wait(GRACE_S))
        return None
