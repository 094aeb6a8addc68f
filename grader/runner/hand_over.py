"""A typed `grade` has its work done by a process that has imported what it needs already, if one is there.

typed command -- Unix socket -- `grade-ready` (see `grader.cli.ready`)
                                 +-- fork: the command, with the typed one's streams, folder and environment

What the fork prints goes where the typed command's output goes. Signals that the typed command gets are passed on. It
ends as the fork ends; and when it is gone, the fork ends. Where anything is not as usual (options of Python, other
streams than the system's, another installation), the typed command does its work itself, with the same result.

The fork parses the words, and hands commands back that are not for it. So the typed command has imported little until
then: it takes as long as click alone to find out that it has nothing to do.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType

from grader.runner.warm_socket import READY, connect_and_check, folder_of_sockets, is_switched_off, socket_name_of
from grader.sandbox.process import clean_environment, isolated_command
from grader.sandbox.trees import MESSAGE_BYTES, receive_tree

HANDED_BACK = 79
"""The exit status of a fork that leaves the command to the process that was typed."""

_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_UNUSUAL = ("debug", "inspect", "interactive", "optimize", "verbose", "dev_mode")
"""Flags of Python."""


def hand_over(words: Sequence[str]) -> None:
    """Have a process of an earlier command run this command, then exit with its status.

    This function returns only if the command has not run: this process must then run it.

    Args:
        words: the words of the command, as they were typed.

    Raises:
        StartError: the process that ran the command was killed.
    """
    if not _may_use_ready_process():
        return
    with ExitStack() as opened:
        try:
            called = connect_and_check(folder_of_sockets(), f"{socket_name_of(READY)}.sock")
        except OSError:  # nobody can answer there, or not now
            return
        if called is None:
            return
        opened.enter_context(called).settimeout(None)
        text = json.dumps({"RunCommand": _command_fields(words)}).encode()
        if len(text) >= MESSAGE_BYTES:
            return
        answer, theirs = (opened.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        _lifeline, its_end = (opened.enter_context(end) for end in socket.socketpair())
        folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
        opened.callback(os.close, folder)
        try:
            given = [theirs.fileno(), sys.stderr.fileno(), 0, 1, 2, folder, its_end.fileno()]
            socket.send_fds(called, [text], given)
        except OSError:  # it has just ended
            return
        theirs.close()
        its_end.close()
        forked, descriptors = receive_tree(answer)
        if "Forked" not in forked:
            return
        (pidfd,) = descriptors
        opened.callback(os.close, pidfd)
        with _forward_signals(pidfd):
            ended, _ = receive_tree(answer)
    if "Ended" not in ended:
        from grader.model.errors import StartError

        raise StartError("the process that ran this command was ended from outside; type the command again")
    status = ended["Ended"]["status"]
    assert isinstance(status, int)
    if status == HANDED_BACK:
        return
    if status < 0:
        with suppress(OSError):  # of a signal that nobody can handle
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)  # nothing was written here, and nothing is open


def _command_fields(words: Sequence[str]) -> dict[str, object]:
    """Return the fields of a `fork_messages.RunCommand` for the command that was typed.

    For `grade 06-1` they begin with `{"program": "grade", "arguments": ["06-1"], ...}`.
    """
    name = os.path.basename(sys.argv[0])
    return {
        "program": "python -m grader" if name == "__main__.py" else name,
        "arguments": list(words),
        "environment": dict(os.environ),
        "encoding": sys.stdout.encoding,
        "is_line_buffered": bool(sys.stdout.line_buffering),
    }


@contextmanager
def _forward_signals(pidfd: int) -> Iterator[None]:
    """Forward the signals of this process to another one, while the block runs.

    Args:
        pidfd: a pidfd of the other process.
    """
    numbers = [getattr(signal, name) for name in _PASSED_ON]
    passed_on = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]  # as under nohup
    before = {number: signal.signal(number, partial(_pass_on, pidfd)) for number in passed_on}
    if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, partial(_pause_with_fork, pidfd))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _may_use_ready_process() -> bool:
    """Return whether this command may run in a process that an earlier command left ready.

    Such processes exist on Linux, unless the user has switched them off. This process must have been started as usual,
    with Python's own standard streams and without options of Python. A fork of a ready process has other streams, and
    so has a test.
    """
    if sys.platform != "linux" or is_switched_off():
        return False
    streams = {sys.stdin: sys.__stdin__, sys.stdout: sys.__stdout__, sys.stderr: sys.__stderr__}
    return (
        all(stream is own and own is not None for stream, own in streams.items())
        and [stream.fileno() for stream in streams] == [0, 1, 2]
        and sys.getfilesystemencoding() == "utf-8"
        and not sys.warnoptions
        and not sys._xoptions
        and not (sys.gettrace() or sys.getprofile())
        and not any(getattr(sys.flags, name) for name in _UNUSUAL)
    )


def _pass_on(pidfd: int, number: int, frame: FrameType | None) -> None:
    with suppress(ProcessLookupError):  # it has just ended
        signal.pidfd_send_signal(pidfd, number)


def _pause_with_fork(pidfd: int, number: int, frame: FrameType | None) -> None:
    """Stop the fork and this process, as Ctrl-Z does.

    When the user continues this process, the fork is continued, too.
    """
    _pass_on(pidfd, signal.SIGSTOP, frame)
    os.kill(os.getpid(), signal.SIGSTOP)
    _pass_on(pidfd, signal.SIGCONT, frame)


def start_ready_process() -> None:
    """Start a process that is ready for the next command, unless one is ready already.

    It imports what the command needs, then waits for it.
    """
    from grader.runner.warm import WarmSocket, why_not_warm

    if not _may_use_ready_process() or why_not_warm():
        return
    try:
        place = WarmSocket.for_this_process(READY)
        called = place.connect()
        if called is not None:
            called.close()
            return
        listening, stay = place.listen()
    except OSError:  # one is about to be there, or there can be none
        return
    from grader.runner.zygote_client import start_in_new_session
    from grader.sandbox.datagrams import send

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, listening, place.log.open("w+b") as log:
        command = isolated_command("grader.cli.ready", str(theirs.fileno()))
        started = start_in_new_session(command, log, [theirs.fileno(), listening.fileno()], clean_environment())
        send(ours, stay)
        started.returncode = 0  # it is not waited for: it outlives this process
