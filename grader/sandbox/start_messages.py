"""Messages about the start of workers, between host, launcher, worker server, lanes and workers.

host   -> zygote         `StartServer`, `StartCheckProcess`, answered as `fork_messages` says
host   -> launcher       `LaunchPlan`, as an argument, where a server is started as a command
launcher -> server       `Launched`, as an argument
host   -> server         `OpenLane` with a descriptor: a lane's socket; `EndWorkers`; `TryOut`
server -> host           `Found` for a `TryOut`, once torch is imported
lane   -> server         `StartWorker` with descriptors: a socket for what follows, channel, output, its group
worker -> server         `WorkerReady` with a descriptor, before it gives up its rights
server -> lane           on that socket `Started` with a pidfd, or `Refused`; `Ended` when the worker has ended
lane   -> fresh worker   `StartWorker`, as a frame

A worker's first frame has no content: it is confined. A fresh interpreter sends another one before, when it is warm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from grader.sandbox.datagrams import Message
from grader.sandbox.view import FileView

WARNED = "\x1e"
"""Stands before each warning in a worker's output, which has what was printed and what was warned of in one stream."""

THREADS = 256
THREADS_OF_MANY = 16


@dataclass(frozen=True)
class WorkerLimits:
    """The limits of one worker during its whole life.

    Attributes:
        cpu_s: CPU seconds of all its threads.
        memory_mb: MiB of address space of each process beyond what the warm interpreter has.
        file_mb: MiB of any one file that it writes, its output among them.
        processes: the number of its processes, itself included. With more than one, threads count as processes.
    """

    cpu_s: int
    memory_mb: int
    file_mb: int
    processes: int

    @property
    def tasks(self) -> int:
        """Return how many processes and threads are allowed together.

        It is 256 for one process, and 24 if `processes` is 8. The kernel has one limit for both.
        """
        return THREADS if self.processes == 1 else self.processes + THREADS_OF_MANY


@dataclass(frozen=True)
class LaunchPlan(Message):
    """The plan of the launcher: what it is to start.

    Attributes:
        view: the files of the machine that are shown.
        command: the command of the worker server, to which `Launched` is added; empty where the zygote forks it.
        namespaces: True if namespaces are tried, for the level `full`.
        rules: True if Landlock and system-call filters are tried, for the level `reduced`.
    """

    PARTS: ClassVar[Mapping[str, Callable[..., Any]]] = {"view": FileView}

    view: FileView
    command: tuple[str, ...]
    namespaces: bool
    rules: bool


@dataclass(frozen=True)
class Launched(Message):
    """The level that the launcher reached.

    Attributes:
        refused: the reason why the kernel did not allow all layers, or "".
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
        plan: the plan of its launcher.
    """

    PARTS: ClassVar[Mapping[str, Callable[..., Any]]] = {"plan": LaunchPlan}

    plan: LaunchPlan


@dataclass(frozen=True)
class StartCheckProcess(Message):
    """Fork a check process; with it come a socket for the answer, a log, its channel, sockets to servers."""


@dataclass(frozen=True)
class OpenLane(Message):
    """Serve a new lane; its socket comes along."""

    lane: int


@dataclass(frozen=True)
class EndWorkers(Message):
    """End the workers of a lane, except those that outlive a slow exercise (`spared`)."""

    lane: int


@dataclass(frozen=True)
class TryOut(Message):
    """Run the probes of `trials` in throw-away workers, which try to reach files and sockets of the host.

    Attributes:
        file: a file of the host.
        folder: a folder of the host.
        pid: the number of the host's process.
        port: the port on which the host listens.
        socket: the name of two Unix sockets of the host: an abstract one, and one in `folder`.
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
    """What the probes found; it is sent when the server has imported what workers need.

    Attributes:
        results: the result of each probe, by its name; "" where its promise holds.
        refused: the reason why the kernel did not allow all layers, or "".
    """

    results: Mapping[str, str]
    refused: str


@dataclass(frozen=True)
class StartWorker(Message):
    """Start a worker; end it when the lane has shut its socket down.

    Attributes:
        folder: an empty folder, for workers that have none of their own.
        limits: the limits on what it may use.
        spared: True if it outlives an exercise that takes too long.
        simulates: True if it will see a simulated accelerator.
        together_mb: MiB of memory that it may have together with all that it starts, where the server is to count them;
            0 where a control group does.
    """

    PARTS: ClassVar[Mapping[str, Callable[..., Any]]] = {"limits": WorkerLimits}

    folder: str
    limits: WorkerLimits
    spared: bool
    simulates: bool = False
    together_mb: int = 0


@dataclass(frozen=True)
class WorkerReady(Message):
    """A worker was forked and waits for its `StartWorker`; the file that resets its memory peak comes along, if any."""


@dataclass(frozen=True)
class Started(Message):
    """A worker was started; a pidfd of it comes along, and what came with its `WorkerReady`."""
