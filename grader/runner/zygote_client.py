"""The host's side of the zygote: it is started, asked for processes, and ended; see `grader.sandbox.zygote`."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from grader.model.errors import StartError
from grader.runner.warm import WarmSocket, why_not_warm
from grader.sandbox import fork_messages
from grader.sandbox.child import tail
from grader.sandbox.datagrams import Message, receive, send
from grader.sandbox.process import GRACE_S, isolated_command, workers_environment

START_S = 180.0

_REAPED_S = 0.002


class ForkedProcess:
    """A process that a zygote forks, with what is used here of `subprocess.Popen`.

    The zygote may still import PyTorch; who needs to know the process waits for that.

    Args:
        answer: the socket on which the zygote sends the process id.
    """

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer
        self._pid = 0
        self._pidfd = -1
        self._lock = threading.Lock()
        self.returncode: int | None = None  # 0, once it has ended: how is not known

    @property
    def pid(self) -> int:
        """Return the process id; wait until the zygote has forked the process.

        Raises:
            StartError: the zygote did not fork the process.
        """
        if not self._wait_for_answer(START_S):
            raise StartError("a process of ours was not forked in time")
        if self._pidfd == -1:
            raise StartError("the process that others are forked from is gone")
        return self._pid

    def _wait_for_answer(self, seconds: float) -> bool:
        """Wait for the zygote's answer; return True if it came in time.

        The answer may be that nothing was forked: `returncode` is then -1.
        """
        with self._lock:
            if self._pid or self.returncode is not None:
                return True
            if not select.select([self._answer], [], [], max(0.0, seconds))[0]:
                return False
            message, descriptors = receive(self._answer)
            self._answer.close()
            if isinstance(message, fork_messages.Forked):
                self._pid, self._pidfd = message.pid, descriptors[0]
            else:
                self.returncode = -1
            return True

    def poll(self) -> int | None:
        """Return 0 if the process has ended, -1 if it was not forked, or None before that."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # it goes on, and there is no status yet
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended.

        Args:
            timeout: the longest time to wait, in seconds; by default `START_S`.

        Returns:
            0, as its exit status is not known; -1 if it was not forked.

        Raises:
            subprocess.TimeoutExpired: the process has not ended in time.
        """
        latest = time.monotonic() + (START_S if timeout is None else timeout)
        if self.returncode is None:
            over = self._wait_for_answer(latest - time.monotonic()) and (
                self._pidfd == -1 or bool(select.select([self._pidfd], [], [], max(0.0, latest - time.monotonic()))[0])
            )
            if not over:
                raise subprocess.TimeoutExpired("a forked process", timeout or START_S)
            self._note_end()
        assert self.returncode is not None
        return self.returncode

    def cancel(self) -> None:
        """Stop waiting for the process if it was not forked yet.

        The zygote then kills it after the fork.
        """
        if self.returncode is None and not self._wait_for_answer(0):
            with self._lock:
                self._answer.close()
                self.returncode = -1

    def kill(self) -> None:
        """Kill the process; if it was not forked yet, the zygote kills it."""
        self.cancel()
        if self._pidfd != -1:
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _note_end(self) -> None:
        with self._lock:
            if self.returncode is None:
                self.returncode = 0
            if self._pidfd != -1:
                self._wait_until_reaped()
                os.close(self._pidfd)
                self._pidfd = -1

    def _wait_until_reaped(self) -> None:
        """Wait until the process has gone from the system, because the zygote waited for it.

        Its control group is then empty and can be removed.
        """
        latest = time.monotonic() + GRACE_S
        with contextlib.suppress(ProcessLookupError):  # this is what is waited for
            while time.monotonic() < latest:
                signal.pidfd_send_signal(self._pidfd, 0)
                time.sleep(_REAPED_S)


def start_in_new_session(
    command: Sequence[str], log: IO[bytes], fds: Sequence[int], environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own; return its process.

    Ctrl-C at the terminal does not reach it.

    Args:
        command: the program and its arguments.
        log: the file for its standard output and standard error.
        fds: further descriptors that it inherits.
        environment: its environment; by default that of workers.
    """
    return subprocess.Popen(
        command,
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment or workers_environment(),
        cwd="/",
        start_new_session=True,  # an interrupt at the terminal is the host's to handle
    )


class Zygote:
    """A process that has imported PyTorch, and that our processes are forked from.

    It has read nothing of a course. Open it once, close it.

    Args:
        soon: True if few processes are wanted, and soon: what makes many of them start faster comes later, or never.
    """

    def __init__(self, *, soon: bool = False) -> None:
        self._soon = soon
        self._lock = threading.Lock()  # lanes that work at once share it
        self._log: IO[bytes]
        self._process: subprocess.Popen[bytes] | None  # to be ended by this process
        self._start()

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        self._process = self._launch()

    def _launch(self, *arguments: str, fds: Sequence[int] = ()) -> subprocess.Popen[bytes]:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = (*arguments, *["soon"] * self._soon)
            command = isolated_command("grader.sandbox.zygote", str(theirs.fileno()), *words)
            return start_in_new_session(command, self._log, [theirs.fileno(), *fds])

    def fork(self, what: Message, log: IO[bytes], descriptors: Sequence[int]) -> ForkedProcess:
        """Have the zygote fork a process; return that process.

        If the zygote was lost, another one is started first.

        Args:
            what: the message that says what the process is to be.
            log: the file for its standard output and standard error.
            descriptors: further descriptors that it gets.

        Raises:
            StartError: neither zygote can be reached.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        given = [theirs.fileno(), log.fileno(), *descriptors]
        with self._lock, theirs:
            try:
                send(self._socket, what, given)
            except OSError:
                self._close()
                self._start()
                try:
                    send(self._socket, what, given)
                except OSError:
                    ours.close()
                    raise StartError(f"no process can be started: {self.last_output()}") from None
        return ForkedProcess(ours)

    def last_output(self) -> str:
        """Return the end of what the zygote printed."""
        return tail(self._log)

    def _close(self) -> None:
        self._socket.close()
        if self._process is not None:
            # It has nothing to put in order, and may still import PyTorch, for seconds in which it sees no socket.
            self._process.kill()
            self._process.wait()
        self._log.close()

    def close(self) -> None:
        """End the zygote, with the worker servers that it forked."""
        with self._lock:
            self._close()


class WarmZygote(Zygote):
    """A zygote that stays when its command has ended, and serves the next. One that fits is used; else one is started.

    Args:
        place: the socket at which it listens.
        soon: the argument of `Zygote`.
    """

    def __init__(self, place: WarmSocket, *, soon: bool = False) -> None:
        self._place = place
        super().__init__(soon=soon)

    def _start(self) -> None:
        """Connect to a warm zygote, or start one.

        If another command is just starting it, start a zygote that does not stay.
        """
        self._process = None
        try:
            called = self._place.connect()
        except TimeoutError:  # another command has just started it: this one has a zygote of its own
            super()._start()
            return
        if called is not None:
            called.settimeout(None)
            self._socket, self._log = called, self._place.log.open("rb")
            return
        listening, stay = self._place.listen()
        self._log = self._place.log.open("w+b")
        with listening:
            started = self._launch("stays", fds=[listening.fileno()])
        send(self._socket, stay)
        started.returncode = 0  # it is not waited for: it outlives this process


def open_zygote(*, warm: bool = False, soon: bool = False) -> Zygote:
    """Return a zygote for one run: a new one, or one that an earlier command has left.

    Args:
        warm: True if the zygote may be one that an earlier command left, and stays for the next command. A machine that
            keeps no warm processes ignores this.
        soon: True if few processes are needed, and the first of them soon; see `Zygote`.
    """
    if warm and not why_not_warm():
        try:
            return WarmZygote(WarmSocket.for_this_process(), soon=soon)
        except OSError as error:  # since `why_not_warm` looked; this run is as one without warm processes
            logging.getLogger("grader").info("nothing stays warm: %s", error)
    return Zygote(soon=soon)
