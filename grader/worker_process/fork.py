"""Start workers as forks of the worker server, which has imported torch already."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.sandbox import cgroup, clock
from grader.sandbox.datagrams import receive, send
from grader.sandbox.fork_messages import Ended, Refused
from grader.sandbox.start_messages import Started, StartWorker
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport
from grader.worker_process.process import GRACE_S, WorkerProcess
from grader.worker_process.starter import WARM_UP_S, Starter, await_progress, caps_of, worker_limits

_SLACK_MB = 256
"""For private files and copies of the server's pages, beyond the memory that an exercise allows."""

_ROOM_S = 2.0
"""How long is waited for room on the machine: namespaces that were left are counted for a while."""
_LOOK_S = 0.05

_SERVER_GONE = "the worker server is gone"


class ForkStarter(Starter):
    """Starts workers as forks of the worker server; plain workers are forks of the server that never had torch.

    Args:
        server: this lane's socket to it.
        root: a private folder for the workers' folders.
        groups: the control group in which caps on whole workers can be set, if there is one.
        plain: this lane's socket to the server of plain workers, if there is one.

    Attributes:
        leaving: workers that were ended, and of which the server has not said yet that they are gone.
    """

    def __init__(
        self,
        server: socket.socket,
        root: Path,
        groups: cgroup.ControlGroup | None = None,
        *,
        plain: socket.socket | None = None,
    ) -> None:
        super().__init__(root)
        self._servers = {False: server} if plain is None else {False: server, True: plain}
        self._groups = groups
        self.leaving: list[_Forked] = []

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, without_torch: bool = False
    ) -> WorkerProcess:
        """Start a worker as a fork of the server.

        Args:
            limits: the limits on the worker's time and memory.
            spared: True if the worker survives when an exercise takes too long and the lane's other workers are ended.
            simulates: True if the worker will see a simulated accelerator.
            without_torch: True if the worker has the standard library alone, without PyTorch and NumPy.

        Raises:
            WorkerLost: the machine cannot start another worker; the verdict is `broken`.
        """
        latest = time.monotonic() + _ROOM_S
        while True:
            self.leaving[:] = [worker for worker in self.leaving if not worker.try_clean_up(0)]
            started = self._request_worker(self._servers[without_torch], limits, spared, simulates)
            if isinstance(started, _Forked):
                self.started += 1
                await_progress(started)  # that it is confined
                started.enter_group()
                return started
            if time.monotonic() < latest:
                time.sleep(_LOOK_S)
            # Fewer at once: what is kept for later makes room for what is needed now.
            elif self.make_room():
                latest = time.monotonic() + _ROOM_S
            else:
                raise WorkerLost(Verdict.BROKEN, f"this machine cannot start another worker: {started.why}")

    def _request_worker(
        self, server: socket.socket, limits: Limits, spared: bool, simulates: bool
    ) -> _Forked | Refused:
        """Ask the server for a worker, and return its process or the server's refusal.

        The server refuses if the machine has no room for another worker.

        Raises:
            WorkerLost: the worker server is gone.
        """
        own = worker_limits(limits)
        # Made from here: control groups are not seen behind the wall.
        group = self._groups.make(limits.memory_mb + _SLACK_MB, own.tasks) if self._groups else None
        entries = group.entry_descriptors() if group else []
        folder, output = self.new_folder_and_output()
        status, its_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours, theirs = socket.socketpair()
        message, descriptors = None, list[int]()
        with its_status, theirs, output.open("ab") as sink, contextlib.suppress(OSError):
            wanted = StartWorker(str(folder), own, spared, simulates, 0 if group else limits.memory_mb + _SLACK_MB)
            send(server, wanted, [its_status.fileno(), theirs.fileno(), sink.fileno(), *entries])
            # The server has its copies. With ours gone the channel closes when the worker ends, in any way.
            its_status.close()
            status.settimeout(WARM_UP_S)
            message, descriptors = receive(status)
        for entry in entries:
            os.close(entry)
        if isinstance(message, Started):
            channel, pid = Channel(SocketTransport(ours), caps_of(limits)), _pid_of(descriptors[0])
            pidfd, *peak = descriptors
            given = channel, pid, folder, output, limits
            return _Forked(*given, pidfd, peak, status, self.leaving, group, waiting=self.waiting)
        for end in (status, ours):
            end.close()
        if group is not None:
            group.remove(GRACE_S)
            group.release()
        if not isinstance(message, Refused):
            # No submission's fault. The host starts another.
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        folder.rmdir()
        output.unlink()
        return message

    def close(self) -> None:
        """Clean up after closed workers, and close the sockets.

        Wait at most `GRACE_S` seconds in all for the workers to end.
        """
        latest = time.monotonic() + GRACE_S
        for worker in self.leaving:
            # With the server gone no end is said, and the kernel has ended them with it.
            if not worker.try_clean_up(max(0.0, latest - time.monotonic())):
                worker.clean_up()
        for server in self._servers.values():
            server.close()


def _pid_of(pidfd: int) -> int:
    """Return the pid of a process in the process namespace of this process.

    In the worker server's namespace the process may have another pid. See proc_pid_fdinfo(5).
    """
    # A pidfd names this very process in each namespace; our /proc shows its number here.
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


@dataclass(eq=False)
class _Forked(WorkerProcess):
    pidfd: int
    peak: list[int]
    status: socket.socket
    leaving: list[_Forked]
    group: cgroup.ControlGroup | None
    _ended: Ended | None = None
    _lost_server: bool = False

    def enter_group(self) -> None:
        """Make sure that the worker is in its control group, which limits its memory.

        Call this before a submission is sent to the worker.
        """
        if self.group is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended already, which its next request shows
                self.group.take_in(self.pid)

    def _receive_end(self, seconds: float) -> Ended | None:
        """Wait for the server's message on how the worker ended.

        Return None if no message comes in time, or if the server is gone.
        """
        if self._ended is None:
            # `Ended` is all that comes after `Started`.
            with contextlib.suppress(TimeoutError, BlockingIOError):
                self.status.settimeout(seconds)
                message, _ = receive(self.status)
                self._lost_server = message is None
                self._ended = message if isinstance(message, Ended) else None
        return self._ended

    def kill(self) -> None:
        # By the server, which reaps it: a pid of ours could be another process's by now.
        with contextlib.suppress(OSError):
            self.status.shutdown(socket.SHUT_WR)

    def signal(self, number: int) -> None:
        # By the descriptor: a process that was reaped has given its number back.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def reset_peak(self) -> None:
        # The file belongs to root where it was forked from a process that an ordinary user started.
        for descriptor in self.peak:
            with contextlib.suppress(OSError):  # it has ended, which its next request shows
                os.write(descriptor, clock.RESET)

    def remove_files_when_gone(self) -> None:
        # Nobody waits while the kernel takes its memory apart.
        if not self.try_clean_up(0):
            self.leaving.append(self)

    def try_clean_up(self, seconds: float) -> bool:
        """Wait until the worker and all that it started end, then clean up.

        Return False, and do not clean up, if they do not end within `seconds`.
        """
        if self._receive_end(seconds) is None or (self.group is not None and not self.group.remove(seconds)):
            return False
        self.clean_up()
        return True

    def clean_up(self) -> None:
        """Close the worker's descriptors, and remove its files and its control group.

        Call this after the worker has ended.
        """
        for descriptor in (self.pidfd, *self.peak):
            os.close(descriptor)
        self.status.close()
        with contextlib.suppress(OSError):  # the lane's folder goes with the lane
            self.remove_files()
        if self.group is not None:
            self.group.remove(_LOOK_S)  # if it is there still: the server is gone, or something of the worker stays
            self.group.release()

    def ran_out_of_memory(self) -> bool:
        return bool(self._ended and self._ended.out_of_memory) or (self.group is not None and self.group.was_killed())

    def await_end(self) -> Ended | None:
        ended = self._receive_end(GRACE_S)
        if ended is None and self._lost_server:  # it ended with the server, which is not a submission's fault
            raise WorkerLost(Verdict.BROKEN, _SERVER_GONE)
        return ended
