"""The worker server: what workers have is imported once, one fork for each worker. Runs no student code itself.

There are two such processes: one has PyTorch and NumPy, the other one (`Libraries`) never had them.

It speaks with the host and with each lane over Unix sockets, in one datagram for each of `sandbox.start_messages`. A
lane makes a socket for each worker: it says what becomes of that one, and shutting it down ends the worker.

A worker is forked and confined ahead of need: while a lane is busy with one, the next one waits for its descriptors.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import socket
import traceback
from collections.abc import Sequence
from typing import NamedTuple

from grader.sandbox import fork_messages, kernel, start_messages
from grader.sandbox.datagrams import Message, receive, send
from grader.sandbox.levels import Full, Reduced, Sandbox
from grader.sandbox.trials import try_out
from grader.worker.libraries import Libraries
from grader.worker.serve import run_forked

NAME = "grade-server"
"""The name that `ps` shows."""

_COUNT_S = 0.1
"""How often the memory of workers with several processes is counted, where no control group caps it."""


_MANY = 100
"""After so many workers, what their forks copied of 4 kB pages has taken longer than making huge pages of them does.

A class gets there; a student who watches a file seldom does, and keeps the 150 MB that the copy takes.
"""


class _Spare(NamedTuple):
    """A worker that was forked ahead and waits for its descriptors."""

    pid: int
    pidfd: int
    orders: socket.socket


class _WorkerOfLane(NamedTuple):
    """What the server knows of a worker that works for a lane, which is one check process.

    Attributes:
        lane: the number of the lane.
        status: the lane's socket for this worker.
        spared: True if the worker outlives an exercise that takes too long.
        together: the bytes that its processes may have together; 0 if that is not counted.
    """

    lane: int
    status: socket.socket
    spared: bool
    together: int


def prepare(libraries: Libraries) -> None:
    """Import what workers need, once, in the process that servers are forked from.

    Args:
        libraries: the libraries that workers have.
    """
    # Before anything else: on such a machine every worker would hang, and every submission seem too slow.
    libraries.check_machine()
    libraries.preload()


def run(host: int, reached: start_messages.Launched, libraries: Libraries) -> None:
    """Run the worker server until the host closes its socket.

    Args:
        host: the descriptor of the socket to the host.
        reached: the launcher's message on the layers of confinement that it built.
        libraries: the libraries that workers have, imported already.
    """
    kernel.set_name(NAME)
    sandbox = _sandbox_of(reached)
    # Or the first collection in a worker would write to every page that objects of the server are on.
    gc.freeze()
    _Server(socket.socket(fileno=host), sandbox, reached, libraries).run()
    # Its workers are ended. Python would now take torch apart, and the host would wait for it.
    os._exit(0)


def _sandbox_of(reached: start_messages.Launched) -> Sandbox:
    """Return the sandbox of the level that the launcher reached on this machine.

    It is `Full` with namespaces, `Reduced` with Landlock and filters of system calls, or `Sandbox`, which only has
    limits.
    """
    if reached.proc is not None:
        return Full(reached.proc)
    return Reduced(reached.readable, reached.listed) if reached.readable else Sandbox()


class _Server:
    def __init__(
        self, host: socket.socket, sandbox: Sandbox, reached: start_messages.Launched, libraries: Libraries
    ) -> None:
        self._host, self._sandbox, self._reached, self._libraries = host, sandbox, reached, libraries
        self._forks = 0
        self._workers: dict[int, _WorkerOfLane] = {}
        self._too_large: set[int] = set()
        self._spare: _Spare | None = None
        self._no_room = ""
        self._simulates = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Answer messages and reap workers until the host is gone."""
        self._selector.register(self._host, selectors.EVENT_READ, self._on_host_message)
        self._spare = self._fork_worker()
        while self._host.fileno() != -1:
            counted = {pid: work.together for pid, work in self._workers.items() if work.together}
            for key, _ in self._selector.select(_COUNT_S if counted else None):
                key.data(key.fileobj)
            for pid, together in counted.items():
                if pid in self._workers and self._sandbox.memory_of(pid, together) > together:
                    self._too_large.add(pid)
                    self._sandbox.end(pid)
        for pid in self._workers:
            self._sandbox.end(pid)

    def _on_host_message(self, sock: socket.socket) -> None:
        """Do what a message of the host asks for; close the socket if the host is gone."""
        message, descriptors = receive(sock)
        match message:
            case start_messages.OpenLane(number):
                lane = socket.socket(fileno=descriptors[0])
                self._selector.register(lane, selectors.EVENT_READ, lambda end: self._on_lane_message(number, end))
            case start_messages.EndWorkers(number):
                self._end_workers(number, all_of_them=False)
            case start_messages.TryOut():
                _send(sock, start_messages.Found(try_out(self._sandbox, message), self._reached.refused))
            case _:  # the host is gone
                self._selector.unregister(sock)
                sock.close()

    def _on_lane_message(self, lane: int, sock: socket.socket) -> None:
        """Start a worker for a lane; end the lane's workers if the lane is gone."""
        message, descriptors = receive(sock)
        match message:
            case start_messages.StartWorker():
                status = socket.socket(fileno=descriptors.pop(0))
                if spare := self._take_worker(message):
                    self._start_worker(lane, message, status, descriptors, spare)
                else:
                    _send(status, fork_messages.Refused(self._no_room))
                    status.close()
                # The server keeps no end of a worker's channel: the lane could not see it close.
                for descriptor in descriptors:
                    os.close(descriptor)
            case _:  # the lane is gone
                self._selector.unregister(sock)
                sock.close()
                self._end_workers(lane, all_of_them=True)

    def _take_worker(self, wanted: start_messages.StartWorker) -> _Spare | None:
        """Return the spare worker, or a newly forked one; None if the system refuses to fork.

        A worker that may start processes is always a new one. The first time that a worker needs a simulated
        accelerator, import all modules of the accelerator, and end the spare worker.
        """
        # Not before it is needed: it takes half a second, and most exercises never see a device. Once here, and not in
        # each worker.
        if wanted.simulates and not self._simulates:
            self._libraries.prepare_devices()
            gc.freeze()
            self._simulates = True
            if self._spare is not None:
                self._sandbox.end(self._spare.pid)
                self._spare.orders.close()
                self._spare = None
        if wanted.limits.processes > 1:  # which few exercises allow
            return self._fork_worker(starts_processes=True)
        spare, self._spare = self._spare or self._fork_worker(), None
        return spare

    def _start_worker(
        self,
        lane: int,
        wanted: start_messages.StartWorker,
        status: socket.socket,
        descriptors: list[int],
        spare: _Spare,
    ) -> None:
        """Send a forked worker its `StartWorker` message, and report the worker to its lane.

        Then fork the next spare worker.
        """
        # Entered before its orders are sent: should it die at once, its end is reported to its lane.
        together = wanted.together_mb << 20 if wanted.limits.processes > 1 else 0
        self._workers[spare.pid] = _WorkerOfLane(lane, status, wanted.spared, together)
        self._selector.register(status, selectors.EVENT_READ, lambda end: self._end_worker(spare.pid, end))
        _, peak = receive(spare.orders)  # of its `WorkerReady`; nothing comes if it has died
        _send(spare.orders, wanted, descriptors)
        spare.orders.close()
        # A descriptor and not a number: in the server's process namespace the worker has another number than outside.
        _send(status, start_messages.Started(), [spare.pidfd, *peak])
        for descriptor in peak:
            os.close(descriptor)
        # Ahead of need: making namespaces, forking and giving up rights take longer than answering a request does. It
        # is not needed yet, so that it cannot be had is not an error.
        self._spare = self._spare or self._fork_worker()
        if self._forks == _MANY:
            # Here, and not in a process that this one was forked from: a write divides a huge page that is shared, and
            # Python's counts of references have been written to nearly all of them.
            kernel.collapse_pages(self._reached.proc)

    def _end_worker(self, pid: int, status: socket.socket) -> None:
        """End a worker, because its lane has shut down the worker's socket.

        `_reap_worker` still reports the end on that socket.
        """
        if pid in self._workers:  # or it was reaped a moment ago, in the same turn of the loop
            self._selector.unregister(status)
            self._sandbox.end(pid)

    def _reap_worker(self, pid: int, pidfd: int) -> None:
        """Reap a worker that has ended, and report that to its lane."""
        self._selector.unregister(pidfd)
        os.close(pidfd)
        self._sandbox.end(pid)  # before its number can be another process's
        _, code, used = os.wait4(pid, 0)
        if pid in self._workers:
            status = self._workers.pop(pid).status
            with contextlib.suppress(KeyError):  # the lane has shut it down
                self._selector.unregister(status)
            too_large = pid in self._too_large
            self._too_large.discard(pid)
            _send(
                status, fork_messages.Ended(os.waitstatus_to_exitcode(code), used.ru_utime + used.ru_stime, too_large)
            )
            status.close()
        # An unused spare that died costs nothing; the next request forks another.
        elif self._spare is not None and self._spare.pid == pid:
            self._spare.orders.close()
            self._spare = None

    def _end_workers(self, lane: int, *, all_of_them: bool) -> None:
        for pid, work in self._workers.items():
            if work.lane == lane and (all_of_them or not work.spared):
                self._sandbox.end(pid)

    def _fork_worker(self, *, starts_processes: bool = False) -> _Spare | None:
        """Fork a worker that waits for its `StartWorker` message.

        Return None if the system refuses to fork.

        Args:
            starts_processes: True if the worker may start processes; see `Sandbox.fork`.
        """
        ours, orders = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            pid = self._sandbox.fork(starts_processes=starts_processes)
        except OSError as error:
            self._no_room = str(error)
            ours.close()
            orders.close()
            return None
        if pid == 0:
            try:
                run_forked(orders, self._sandbox, self._libraries)
            except BaseException:
                traceback.print_exc()
            # Whatever happens in there, the child must not come back into the server's loop.
            finally:
                os._exit(70)
        self._forks += 1
        orders.close()
        pidfd = os.pidfd_open(pid)
        self._selector.register(pidfd, selectors.EVENT_READ, lambda _: self._reap_worker(pid, pidfd))
        return _Spare(pid, pidfd, ours)


def _send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    # The lane is gone, whose workers are ended when its socket is found closed; or a spare that died, which is reaped
    # and reported like any other.
    with contextlib.suppress(OSError):
        send(sock, message, descriptors)
