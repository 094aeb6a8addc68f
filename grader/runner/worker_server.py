"""The warm server that forks confined workers, as the host sees it.

How well they are confined on this machine is tried out once, in a thread, while the host goes on.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import socket
import subprocess
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import IO

from grader.model.errors import StartError
from grader.model.messages import Level
from grader.runner.promises import ReachedLevel, SandboxPlan, highest_level, promises_with_findings
from grader.runner.worker_source import CheckProcess, Supply, WorkerSource, torch_file
from grader.runner.zygote_client import START_S, ForkedProcess, Zygote, start_in_new_session
from grader.sandbox import start_messages
from grader.sandbox.child import SAID_NOTHING, end, tail
from grader.sandbox.datagrams import Message, receive, send, to_text
from grader.sandbox.probe_targets import open_probe_targets
from grader.sandbox.process import isolated_command, isolated_plain_command, plain_paths, workers_paths
from grader.sandbox.start_messages import LaunchPlan, TryOut
from grader.sandbox.view import FileView
from grader.wire.transport import SocketTransport

_MEMORY_MB = 512


_ENDS_S = 0.3
"""From the death of the worker server to that of the launcher, which is what is seen from here."""

_starter = ThreadPoolExecutor(1, "grade-starter")
"""The thread that starts what is to end with this process. Linux ends such a process with the thread that started it,
and a lane's thread, or one of a notebook's, may be over long before the workers are."""


class WorkerServer(WorkerSource):
    """The process that workers are forked from and, if an exercise needs it, a second one for workers without PyTorch.

    Args:
        plan: the plan of how well workers are confined.
        zygote: the zygote that it is forked from; by default one of its own.
        is_plain: True if its workers have the standard library alone. It is started as a command then, and not forked.
    """

    def __init__(self, plan: SandboxPlan, zygote: Zygote | None = None, *, is_plain: bool = False) -> None:
        self._plan, self._is_plain = plan, is_plain
        self._has_own = zygote is None and not is_plain
        self._zygote = Zygote() if self._has_own else zygote
        self._lock = threading.RLock()  # of lanes that work at once, one asks at a time
        self._generation = 0
        self._before: ReachedLevel | None = None
        self._plain: WorkerServer | None = None
        self._process: ForkedProcess | subprocess.Popen[bytes]
        self._start()
        if plan.with_plain and not is_plain:
            self._start_plain()

    def prepare_for(self, plan: SandboxPlan) -> bool:
        """Prepare this server for another plan; return False if it does not fit that plan.

        It fits if the plan confines workers as the server does. To prepare is to start the server of workers without
        PyTorch, if the plan needs one.

        Args:
            plan: the other plan; its `readable`, the file that probes try to read, is not compared.
        """
        own = self._plan
        same = (own.least, own.most, {*own.hidden}) == (plan.least, plan.most, {*plan.hidden})
        if same and plan.with_plain:
            self._start_plain()
        return same

    def _start_plain(self) -> WorkerServer:
        if self._plain is None:
            self._plain = WorkerServer(self._plan, is_plain=True)
        return self._plain

    def _start(self) -> None:
        """Start the server process, and the trial of its confinement in a thread."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        most, hidden = self._plan.most, tuple(map(os.path.realpath, self._plan.hidden))
        asks = most is Level.FULL, most > Level.NONE
        with theirs:
            if self._zygote is not None:
                shown, listed = workers_paths()
                plan = LaunchPlan(FileView(tuple(shown), hidden, tuple(listed)), (), *asks)
                self._process = self._zygote.fork(start_messages.StartServer(plan), self._log, [theirs.fileno()])
            else:
                server = isolated_plain_command("grader.worker", "plain", "server", str(theirs.fileno()))
                shown, without = plain_paths()
                plan = LaunchPlan(FileView(tuple(shown), (*hidden, *without)), tuple(server), *asks)
                command = isolated_command("grader.sandbox.launch", to_text(plan), str(os.getpid()))
                start = partial(start_in_new_session, command, self._log, [theirs.fileno()])
                self._process = _starter.submit(start).result()
        self._socket = ours
        self._trial = Future[ReachedLevel]()  # it answers once, and each lane asks
        threading.Thread(target=self._run_trial, args=(self._trial,), name="grade-trial", daemon=True).start()

    def wait_ready(self) -> ReachedLevel:
        """Wait until probes have tried workers; return the level that workers reach.

        The server imports torch before that.
        """
        with self._lock:
            trial, before = self._trial, self._before
        found = trial.result()
        # Reports have named the level by now; a successor must not be worse.
        if before is not None and found.level < before.level:
            was, now = before.level.word, found.level.word
            raise StartError(f"the worker server was lost, and its successor reaches {now} where it had {was}")
        found.require(self._plan.least)
        if self._plain is not None:
            return min(found, self._plain.wait_ready(), key=lambda reached: reached.level)
        return found

    def _run_trial(self, trial: Future[ReachedLevel]) -> None:
        """Run the probes that show how well workers are confined, and complete the future `trial`.

        Its result is the level that workers reach; or it raises what the probing raised.
        """
        try:
            trial.set_result(self._probe_workers())
        except Exception as error:  # of any kind: it is raised where the result is waited for
            trial.set_exception(error)

    def _probe_workers(self) -> ReachedLevel:
        """Run probes in workers; return the level that workers reach.

        The probes try to reach files and sockets of the host.
        """
        with open_probe_targets() as targets:
            own_folders = os.path.join(targets.scratch, "first"), os.path.join(targets.scratch, "second")
            for path in own_folders:
                os.mkdir(path, mode=0o700)
            # What workers must not read is tried with what they would like to: the course, or what they do without.
            wished = (torch_file() if self._is_plain else self._plan.readable) or targets.file
            file, pid = os.path.realpath(wished), os.getpid()
            message = self._request_probes(
                TryOut(file, targets.folder, pid, targets.port, targets.socket, _MEMORY_MB, own_folders)
            )
        if not isinstance(message, start_messages.Found):
            raise self._not_started_error()
        rows, refused = promises_with_findings(message.results), message.refused
        # More may hold by chance than was wanted; what was not built is not promised.
        return ReachedLevel(
            min(highest_level(rows), self._plan.most), rows, f"the kernel refuses: {refused}" if refused else ""
        )

    def _request_probes(self, wanted: TryOut) -> Message | None:
        """Ask the server to run probes; return its answer.

        The result is None if the server is gone or does not answer.
        """
        with contextlib.suppress(OSError):
            self._socket.settimeout(START_S)
            send(self._socket, wanted)
            return receive(self._socket)[0]
        return None

    def supply(self, lane: int, *, with_plain: bool = False) -> Supply:
        """Return new sockets by which a lane reaches this server.

        If `with_plain`, also return a socket to the server without PyTorch. A server that was lost is started again
        first.
        """
        with self._lock:
            own = self._supply(lane)
            if not with_plain:
                return own
            try:
                other = self._start_plain().supply(lane)
            except StartError:
                if own.server is not None:
                    own.server.close()
                raise
            return replace(own, plain=other.server)

    def _supply(self, lane: int) -> Supply:
        """Return a new socket by which a lane reaches this server.

        If the server was lost, it is started again first.
        """
        with self._lock:
            try:
                # Not waited for: most lanes are opened when it has just been started.
                return Supply(self.open_lane(lane), generation=self._generation)
            except StartError:
                if not self.was_lost(self._generation):
                    raise
            self._end_server()
            self._before = None if self._trial.exception() is not None else self._trial.result()
            self._generation += 1
            self._start()
            return Supply(self.open_lane(lane), generation=self._generation)

    def was_lost(self, generation: int) -> bool:
        """Return True if the worker server of this generation has ended.

        The first server has the generation 0, and its successor 1. Wait a moment for a server that is just ending. The
        result is True also if the server of workers without PyTorch has ended.
        """
        with self._lock, contextlib.suppress(subprocess.TimeoutExpired):
            if generation == self._generation:
                self._process.wait(_ENDS_S)
        if self._plain is not None and self._plain.was_lost(self._plain.generation):
            return True
        return generation != self._generation or self._process.returncode is not None

    def open_lane(self, lane: int) -> socket.socket:
        """Open a socket to the server, for a lane's check process.

        Raises:
            StartError: the server did not start.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            send(self._socket, start_messages.OpenLane(lane), [theirs.fileno()])
        except OSError:
            ours.close()
            raise self._not_started_error() from None
        finally:
            theirs.close()  # handed over or not: the server is to be the only one to hold it
        return ours

    def _not_started_error(self) -> StartError:
        own = tail(self._log)
        said = self._zygote.last_output() if own == SAID_NOTHING and self._zygote is not None else own
        return StartError(f"the worker server did not start: {said}")

    def open_check_process(self, lane: int, log: IO[bytes], *, with_plain: bool = False) -> CheckProcess:
        """Fork the check process of a lane from the zygote's template.

        Args:
            lane: the number of the lane.
            log: the file that takes what the process writes to standard error.
            with_plain: True if the check process also gets a socket to the server of workers without PyTorch.
        """
        assert self._zygote is not None
        supply = self.supply(lane, with_plain=with_plain)
        ours, theirs = socket.socketpair()
        # The check process alone holds them then: when it dies they close, and the servers end the lane's workers.
        with ExitStack() as opened:
            given = [opened.enter_context(each) for each in (theirs, supply.server, supply.plain) if each is not None]
            process = self._zygote.fork(start_messages.StartCheckProcess(), log, [each.fileno() for each in given])
        return CheckProcess(process, SocketTransport(ours), generation=supply.generation)

    def end_workers(self, lane: int) -> bool:
        """Have the server end the workers of a lane at once; return True.

        Workers of references go on.
        """
        if self._plain is not None:
            self._plain.end_workers(lane)
        with contextlib.suppress(OSError):  # it is gone, and they with it
            send(self._socket, start_messages.EndWorkers(lane))
        return True

    @property
    def generation(self) -> int:
        """Return how many servers were lost and replaced before this one."""
        return self._generation

    def close(self) -> None:
        """End the server, which ends its workers."""
        if self._plain is not None:
            self._plain.close()
            self._plain = None
        self._end_server()
        if self._has_own and self._zygote is not None:
            self._zygote.close()

    def _end_server(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)  # a trial that still waits for an answer fails at once
        concurrent.futures.wait([self._trial])
        self._socket.close()
        if isinstance(self._process, ForkedProcess):
            self._process.cancel()
        end(self._process)
        self._log.close()
