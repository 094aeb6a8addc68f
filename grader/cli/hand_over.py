"""A typed `grade` has its work done by a process that has imported what it needs already, if one is there.

typed command -- Unix socket -- `grade-ready` (see `grader.cli.ready`)
                                 +-- fork: the command, with the typed one's streams, folder and environment

What the fork prints goes where the typed command's output goes. Signals that the typed command gets are passed on. It
ends as the fork ends; and when it is gone, the fork ends. Where anything is not as usual (options of Python, other
streams than the system's, another installation), the typed command does its work itself, with the same result.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from functools import partial
from types import FrameType

import click

from grader.cli import TYPED
from grader.runner.warm import READY, Place, is_off, why_none
from grader.sandbox import fork_messages
from grader.sandbox.datagrams import MESSAGE_BYTES, Message, receive, send, to_text
from grader.sandbox.process import clean_environment, isolated

_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_UNUSUAL = ("debug", "inspect", "interactive", "optimize", "verbose", "dev_mode")
"""Flags of Python."""


def hand_over() -> None:
    """End this process as the command ended that another one ran; return if no process can run it."""
    if not _is_usual():
        return
    ended: Message | None
    with ExitStack() as opened:
        try:
            called = Place.here(READY).call()
        except OSError:  # nobody can answer there, or not now
            return
        if called is None:
            return
        opened.enter_context(called).settimeout(None)
        context = click.get_current_context().find_root()
        typed = fork_messages.RunCommand(
            context.info_name or "grade",
            context.meta[TYPED],
            dict(os.environ),
            sys.stdout.encoding,
            bool(sys.stdout.line_buffering),
        )
        if len(to_text(typed)) >= MESSAGE_BYTES:
            return
        answer, theirs = (opened.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        _lifeline, its_end = (opened.enter_context(end) for end in socket.socketpair())
        folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
        opened.callback(os.close, folder)
        try:
            send(called, typed, [theirs.fileno(), sys.stderr.fileno(), 0, 1, 2, folder, its_end.fileno()])
        except OSError:  # it has just ended
            return
        theirs.close()
        its_end.close()
        forked, descriptors = receive(answer)
        if not isinstance(forked, fork_messages.Forked):
            return
        (pidfd,) = descriptors
        opened.callback(os.close, pidfd)
        for name in _PASSED_ON:
            number = getattr(signal, name)
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, partial(_pass_on, pidfd))
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, partial(_pause, pidfd))
        ended, _ = receive(answer)
    if not isinstance(ended, fork_messages.Ended):
        from grader.model.errors import StartError

        raise StartError("the process that ran this command was ended from outside; type the command again")
    if ended.status < 0:
        with suppress(OSError):  # of a signal that nobody can handle
            signal.signal(-ended.status, signal.SIG_DFL)
        os.kill(os.getpid(), -ended.status)
    sys.exit(ended.status)


def _is_usual() -> bool:
    """Return whether this process is as one that a shell started for `grade`.

    A fork of a ready process is not: its streams are others than those that Python started with. So are a test's.
    """
    if sys.platform != "linux" or is_off():
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


def _pause(pidfd: int, number: int, frame: FrameType | None) -> None:
    """Stop with the fork, as after Ctrl-Z, until the user goes on."""
    _pass_on(pidfd, signal.SIGSTOP, frame)
    os.kill(os.getpid(), signal.SIGSTOP)
    _pass_on(pidfd, signal.SIGCONT, frame)


def stay_ready() -> None:
    """Leave a process that has imported what the next command needs, unless one is there."""
    if not _is_usual() or why_none():
        return
    try:
        place = Place.here(READY)
        called = place.call()
        if called is not None:
            called.close()
            return
        listening, stay = place.listen()
    except OSError:  # one is about to be there, or there can be none
        return
    from grader.runner.zygote import start_apart

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, listening, place.log.open("w+b") as log:
        command = isolated("grader.cli.ready", str(theirs.fileno()))
        started = start_apart(command, log, [theirs.fileno(), listening.fileno()], clean_environment())
        send(ours, stay)
        started.returncode = 0  # it is not waited for: it outlives this process
