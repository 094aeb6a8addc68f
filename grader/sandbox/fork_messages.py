"""Messages with a process that others are forked from, and about what it forks.

host -> who forks    what is to be forked, with a socket for the answer and what the process gets; `Describe`, `Stop`
who forks -> host    on that socket `Forked` with a pidfd, or `Refused`; `Described` for a `Describe`

Of these processes, the zygote has its `StartServer` and `StartCheckProcess` in `start_messages`. The one that runs
commands has `RunCommand`, and says on the same socket how the command `Ended`. A process that is to `Stay` receives
that once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.sandbox.datagrams import Message


@dataclass(frozen=True)
class RunCommand(Message):
    """Fork a process that runs a command as it was typed.

    With it come a socket for the answer, standard input, output and errors, the folder, and a socket that the command
    which was typed closes when it ends.

    Attributes:
        program: as it was called.
        arguments: the words after it.
        environment: the environment of the command that was typed.
        encoding: the encoding of its standard streams.
        is_line_buffered: True if its standard output is written line by line.
    """

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    encoding: str
    is_line_buffered: bool


@dataclass(frozen=True)
class Stay(Message):
    """Let a process that others are forked from stay when its host is gone, for other hosts of the same user.

    Attributes:
        listening: a descriptor of the socket on which it accepts other hosts.
        path: the path of that socket; once another one is there, this process takes no calls and ends with the last.
        leader: the process whose end is that of the user's session.
        idle_s: the seconds that it stays without a host.
    """

    listening: int
    path: str
    leader: int
    idle_s: float


@dataclass(frozen=True)
class Describe(Message):
    """Answer with a `Described`; with it comes a socket for the answer."""


@dataclass(frozen=True)
class Described(Message):
    """The state of a process that others are forked from.

    This message must keep its name: `grade doctor` reads it from processes that an older version may have left.

    Attributes:
        pids: its processes that stay.
        idle_s: the seconds that it will still stay without a host.
    """

    pids: tuple[int, ...]
    idle_s: float


@dataclass(frozen=True)
class Stop(Message):
    """Accept no new hosts, and end when the hosts that are connected have ended."""


@dataclass(frozen=True)
class Forked(Message):
    """A process was forked; a pidfd of it comes along.

    Attributes:
        pid: its number.
    """

    pid: int


@dataclass(frozen=True)
class Refused(Message):
    """A process could not be started.

    Attributes:
        why: the system's own words.
    """

    why: str


@dataclass(frozen=True)
class Ended(Message):
    """A worker, or the process of a command, has ended.

    Attributes:
        status: its exit code; negative for a signal.
        cpu_s: CPU seconds of its whole life, which nobody can read once it is reaped; None if they are not known.
        out_of_memory: True if the server ended it, as its processes had more memory together than they may.
    """

    status: int
    cpu_s: float | None = None
    out_of_memory: bool = False
