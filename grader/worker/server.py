"""The worker server: torch and numpy imported once, one fork for each worker. Runs no student code itself.

It speaks with the host and with each lane over Unix sockets, in short JSON messages of one datagram each:

host  -> server   {"do": "lane", "lane": k} with a descriptor: a lane's socket
                  {"do": "kill", "lane": k}: end all workers of a lane
lane  -> server   {"do": "worker", "number": n, "folder": path, "limits": {...}} with descriptors: channel, output
server -> lane    {"number": n, "pid": pid}, and when it has ended {"number": n, "status": code}

A worker is forked ahead of need: while a lane is busy with one, the next one waits for its descriptors.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

import torch

from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport
from grader.worker.confine import WorkerLimits, confine, tasks_of_user
from grader.worker.serve import serve

_MESSAGE_BYTES = 1 << 16
_SELF_CHECK_S = 20.0
_PR_SET_PDEATHSIG = 1
_PRELOADED = ("numpy.random", "numpy.linalg", "torch.autograd.gradcheck", "torch.nn.functional")
"""What honest code needs and these packages import only when it is used: once here, not in each worker."""

_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class _Spare:
    """A worker that was forked ahead and waits for its descriptors."""

    pid: int
    birth: socket.socket


def run(host: socket.socket) -> None:
    """Serve until the host closes its socket."""
    _check_parallel_operation()
    tasks_of_user()
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    _Server(host).run()


def _check_parallel_operation() -> None:
    """Prove that a forked child can run an operation on several threads: after some set-ups it hangs for ever."""
    pid = os.fork()
    if pid == 0:
        torch.set_num_threads(2)
        (torch.ones(300, 300) @ torch.ones(300, 300)).sum().item()
        os._exit(0)
    pidfd = os.pidfd_open(pid)
    selector = selectors.DefaultSelector()
    selector.register(pidfd, selectors.EVENT_READ)
    answered = bool(selector.select(_SELF_CHECK_S))
    if not answered:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    selector.close()
    os.close(pidfd)
    if not answered or status != 0:
        sys.exit("a forked child cannot run a parallel operation of torch on this machine; use --start spawn")


class _Server:
    def __init__(self, host: socket.socket) -> None:
        self._host = host
        self._lanes: dict[int, socket.socket] = {}
        self._workers: dict[int, tuple[int, int]] = {}
        self._spare: _Spare | None = None
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)

    def run(self) -> None:
        """Answer messages and reap workers until the host is gone."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno())
        self._selector.register(self._host, selectors.EVENT_READ, self._from_host)
        self._selector.register(self._woken, selectors.EVENT_READ, self._on_wake)
        self._fork_spare()
        self._host.send(b'{"ready": true}')
        while self._host.fileno() != -1:
            for key, _ in self._selector.select():
                key.data(key.fileobj)
        for pid in self._workers:
            _kill(pid)

    def _from_host(self, sock: socket.socket) -> None:
        message, descriptors = _receive(sock)
        if message is None:
            self._selector.unregister(sock)
            sock.close()
        elif message["do"] == "lane":
            lane = socket.socket(fileno=descriptors[0])
            self._lanes[message["lane"]] = lane
            number = message["lane"]
            self._selector.register(lane, selectors.EVENT_READ, lambda end: self._from_lane(number, end))
        elif message["do"] == "kill":
            self._kill_workers(message["lane"])

    def _from_lane(self, lane: int, sock: socket.socket) -> None:
        message, descriptors = _receive(sock)
        if message is None:
            self._selector.unregister(sock)
            sock.close()
            del self._lanes[lane]
            self._kill_workers(lane)
            return
        if message["do"] == "kill":
            for pid, (owner, number) in self._workers.items():
                if (owner, number) == (lane, message["number"]):
                    _kill(pid)
            return
        if self._spare is None:
            self._fork_spare()
        spare, self._spare = self._spare, None
        assert spare is not None
        self._workers[spare.pid] = (lane, message["number"])
        with contextlib.suppress(OSError):  # a spare that died is reaped and told like any other death
            socket.send_fds(spare.birth, [json.dumps(message).encode()], descriptors)
        spare.birth.close()
        for descriptor in descriptors:
            os.close(descriptor)
        _send(sock, {"number": message["number"], "pid": spare.pid})
        self._fork_spare()

    def _on_wake(self, sock: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while sock.recv(4096):
                pass
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._workers:
                lane, number = self._workers.pop(pid)
                if lane in self._lanes:
                    _send(self._lanes[lane], {"number": number, "status": os.waitstatus_to_exitcode(status)})
            elif self._spare is not None and self._spare.pid == pid:
                self._spare.birth.close()
                self._spare = None

    def _kill_workers(self, lane: int) -> None:
        for pid, (owner, _) in self._workers.items():
            if owner == lane:
                _kill(pid)

    def _fork_spare(self) -> None:
        ours, birth = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            try:
                _be_born(birth)
            finally:
                os._exit(70)
        birth.close()
        self._spare = _Spare(pid, ours)


def _be_born(birth: socket.socket) -> None:
    """The whole life of a forked worker, from its first statement."""
    _die_with_the_server()
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _close_all_but(birth.fileno())
    message, descriptors = _receive(birth)
    if message is None:
        os._exit(0)
    channel_fd, output_fd = descriptors
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    channel = socket.socket(fileno=os.dup2(channel_fd, 3) if channel_fd != 3 else 3)
    os.closerange(4, 1 << 16)
    birth.detach()
    confine(WorkerLimits.read(message["limits"]), message["folder"])
    serve(Channel(SocketTransport(channel)), message["folder"])
    os._exit(0)


def _die_with_the_server() -> None:
    """Ask the kernel to end this process when the server ends, however that happens; see prctl(2)."""
    if _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl refuses PR_SET_PDEATHSIG")


def _close_all_but(kept: int) -> None:
    os.closerange(3, kept)
    os.closerange(kept + 1, 1 << 16)


def _kill(pid: int) -> None:
    """End a worker with its whole session."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _receive(sock: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    try:
        data, descriptors, _, _ = socket.recv_fds(sock, _MESSAGE_BYTES, 4)
    except ConnectionError:
        data, descriptors = b"", []
    return (json.loads(data) if data else None), list(descriptors)


def _send(sock: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the lane is gone; its workers are ended when its socket is found closed
        sock.send(json.dumps(message).encode())
