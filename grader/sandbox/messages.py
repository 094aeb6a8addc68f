"""Messages about the start of workers, between host, launcher, worker server, lanes and workers.

host   -> zygote         `StartServer`, `StartCheckProcess`, with a socket for the answer and what the process gets
zygote -> host           on that socket `Forked` with a pidfd, or `Refused`; `Described` for a `Describe`
host   -> launcher       `LaunchPlan`, as an argument, where a server is started as a command
launcher -> server       `Launched`, as an argument
host   -> server         `OpenLane` with a descriptor: a lane's socket; `EndWorkers`; `TryOut`
server -> host           `Found` for a `TryOut`, once torch is imported
lane   -> server         `StartWorker` with descriptors: a socket for what follows, channel, output, doors of its group
worker -> server         `Waiting` with a descriptor, before it gives up its rights
server -> lane           on that socket `Started` with a pidfd, or `Refused`; `Ended` when the worker has ended
lane   -> fresh worker   `StartWorker`, as a frame

A worker's first frame has no content: it is confined. A fresh interpreter sends another one before, when it is warm.
Everything here is from us and to us: no student code has run yet in the sender.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grader.sandbox.view import View

_MESSAGE_BYTES = 1 << 17
"""A view may name many folders."""

_MOST_DESCRIPTORS = 8

THREADS = 256
THREADS_OF_MANY = 16


@dataclass(frozen=True)
class WorkerLimits:
    """The limits of one worker during its whole life.

    Attributes:
        cpu_s: CPU seconds of all its threads.
        memory_mb: MiB of address space of each process beyond what the warm interpreter has.
        file_mb: MiB of any one file that it writes, its output among them.
        processes: how many processes it may be, itself included. With more than one, threads count as processes.
    """

    cpu_s: int
    memory_mb: int
    file_mb: int
    processes: int

    @property
    def tasks(self) -> int:
        """Processes and threads together: the kernel has one limit for both."""
        return THREADS if self.processes == 1 else self.processes + THREADS_OF_MANY


@dataclass(frozen=True)
class Message:
    """One of the messages below."""


@dataclass(frozen=True)
class LaunchPlan(Message):
    """The plan of the launcher: what it is to start.

    Attributes:
        view: what of the machine's files is shown.
        command: that of the worker server, which gets one argument more: `Launched`; empty where the zygote forks it.
        namespaces: whether namespaces are tried, for the level `full`.
        rules: whether Landlock and system-call filters are, for the level `reduced`.
    """

    view: View
    command: tuple[str, ...]
    namespaces: bool
    rules: bool


@dataclass(frozen=True)
class Launched(Message):
    """The level that the launcher reached.

    Attributes:
        refused: why the kernel did not give all layers, or "".
        readable: outside of namespaces, what workers may read; None where files cannot be hidden from them.
        listed: there, folders in which they may see names.
        proc: inside, a descriptor of a proc file system (see `kernel.map_user`); else None.
    """

    refused: str = ""
    readable: tuple[str, ...] | None = None
    listed: tuple[str, ...] = ()
    proc: int | None = None


@dataclass(frozen=True)
class StartServer(Message):
    """Fork a worker server; with it come a socket for the answer, a log, and the server's socket to the host.

    Attributes:
        plan: of its launcher.
    """

    plan: LaunchPlan


@dataclass(frozen=True)
class StartCheckProcess(Message):
    """Fork a check process; with it come a socket for the answer, a log, its channel, sockets to servers."""


@dataclass(frozen=True)
class Stay(Message):
    """A zygote is to stay when its host is gone, for others of the same user.

    Attributes:
        listening: a descriptor of the socket at which they call.
        path: of that socket; when another one is there, this zygote takes no new calls and ends with the last.
        leader: the process whose end is that of the user's session.
        idle_s: so long it stays without a call.
    """

    listening: int
    path: str
    leader: int
    idle_s: float


@dataclass(frozen=True)
class Describe(Message):
    """Say how you are; with it comes a socket for the answer."""


@dataclass(frozen=True)
class Described(Message):
    """The state of a zygote.

    Attributes:
        pids: its processes that stay.
        idle_s: how long it will stay without a call.
    """

    pids: tuple[int, ...]
    idle_s: float


@dataclass(frozen=True)
class Stop(Message):
    """Take no new calls, and end when the others that still call have ended."""


@dataclass(frozen=True)
class Forked(Message):
    """A process was forked; a pidfd of it comes along.

    Attributes:
        pid: its number.
    """

    pid: int


@dataclass(frozen=True)
class OpenLane(Message):
    """A lane is there; its socket comes along."""

    lane: int


@dataclass(frozen=True)
class EndWorkers(Message):
    """End the workers of a lane that are not spared."""

    lane: int


@dataclass(frozen=True)
class TryOut(Message):
    """Try what workers can do, and whether they reach what the host has laid out.

    Attributes:
        file: of the host.
        folder: of the host.
        pid: of the host.
        port: on which it listens.
        socket: name of two Unix sockets of its: an abstract one, and one in `folder`.
        memory_mb: MiB that the probing process may have beyond its start.
        own_folders: two empty folders, for workers that have none of their own.
    """

    file: str
    folder: str
    pid: int
    port: int
    socket: str
    memory_mb: int
    own_folders: tuple[str, ...]


@dataclass(frozen=True)
class Found(Message):
    """The server is warm, and what its probes found.

    Attributes:
        results: of each probe by name; "" where its promise holds.
        refused: why the kernel did not give all layers, or "".
    """

    results: Mapping[str, str]
    refused: str


@dataclass(frozen=True)
class StartWorker(Message):
    """Start a worker; end it when the lane has shut its socket down.

    Attributes:
        folder: an empty folder, for workers that have none of their own.
        limits: what it may use.
        spared: whether it outlives an exercise that takes too long.
        simulates: whether it will see a simulated accelerator.
        together_mb: MiB of memory that it may have together with all that it starts, where the server is to count them;
            0 where a control group does.
    """

    folder: str
    limits: WorkerLimits
    spared: bool
    simulates: bool = False
    together_mb: int = 0


@dataclass(frozen=True)
class Waiting(Message):
    """A forked worker waits for its `StartWorker`; what resets its peak of memory comes along, if it has that."""


@dataclass(frozen=True)
class Started(Message):
    """A worker was started; a pidfd of it comes along, and what came with its `Waiting`."""


@dataclass(frozen=True)
class Refused(Message):
    """A process could not be started.

    Attributes:
        why: what the system said.
    """

    why: str


@dataclass(frozen=True)
class Ended(Message):
    """A worker has ended.

    Attributes:
        status: its exit code; negative for a signal.
        cpu_s: CPU seconds of its whole life, which nobody can read once it is reaped; None if they are not known.
        out_of_memory: whether the server ended it, as its processes had more memory together than they may.
    """

    status: int
    cpu_s: float | None = None
    out_of_memory: bool = False


_KINDS: Mapping[str, type[Message]] = {kind.__name__: kind for kind in Message.__subclasses__()}
_PARTS: Mapping[str, Callable[..., Any]] = {"view": View, "limits": WorkerLimits, "plan": LaunchPlan}


def to_tree(message: Message) -> dict[str, Any]:
    """Return a message as the tree of a frame."""
    return {type(message).__name__: asdict(message)}


def from_tree(tree: Mapping[str, Any]) -> Message:
    """Return the message of a frame's tree."""
    ((name, fields),) = tree.items()
    message: Message = _read(_KINDS[name], fields)
    return message


def _read(kind: Callable[..., Any], fields: Mapping[str, Any]) -> Any:
    """Make a record from its fields; a field name means the same in all messages."""
    # JSON has no tuples, and no records in records.
    tuples = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return kind(**tuples | {key: _read(_PARTS[key], fields[key]) for key in _PARTS if key in fields})


def to_text(message: Message) -> str:
    """Return a message as an argument of a command, or as a datagram."""
    return json.dumps(to_tree(message))


def from_text(text: str | bytes) -> Message:
    """Read the message of an argument or a datagram."""
    return from_tree(json.loads(text))


def send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send a message as one datagram.

    Args:
        sock: a socket of datagrams.
        message: that is sent.
        descriptors: that go with it.
    """
    socket.send_fds(sock, [to_text(message).encode()], descriptors)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """Receive one message, with its descriptors; return None if the other end is closed.

    Raises:
        TimeoutError: the socket has a timeout, and nothing came.
    """
    try:
        data, descriptors, _, _ = socket.recv_fds(sock, _MESSAGE_BYTES, _MOST_DESCRIPTORS)
    except ConnectionError:
        data, descriptors = b"", []
    return (from_text(data) if data else None), list(descriptors)
