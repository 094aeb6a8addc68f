"""Where a lane's workers come from: a warm server that forks confined ones, or fresh interpreters without a sandbox.

How well they are confined on this machine is tried out once, while torch is being imported elsewhere. A level is not
believed: probes in a throw-away worker (`grader.sandbox.trials`) try to break each of its promises.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from grader.model.errors import ConfinementError, StartError
from grader.model.messages import Level, Start
from grader.runner.zygote import START_S, Forked, Zygote, start_for_workers
from grader.sandbox import messages
from grader.sandbox.messages import LaunchPlan, TryOut, receive, send, to_text
from grader.sandbox.process import (
    SAID_NOTHING,
    bind_in,
    clean_environment,
    end,
    isolated,
    isolated_plain,
    plain_paths,
    tail,
    workers_paths,
)
from grader.sandbox.view import View
from grader.wire.transport import SocketTransport, Transport, pipes_of

_MEMORY_MB = 512


@dataclass(frozen=True)
class Promise:
    """One thing that a confined process cannot do, or that honest code still can.

    Attributes:
        name: of its probe.
        level: the least level that promises it.
        sentence: what holds.
        remedy: what makes it hold.
        why_not: why it does not hold, as its probe found, or "".
    """

    name: str
    level: Level
    sentence: str
    remedy: str
    why_not: str = ""


_NAMESPACES = (
    "let processes make user namespaces: outside of containers, sysctl kernel.unprivileged_userns_clone=1 and "
    "user.max_user_namespaces of 8 or more, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container, "
    "start it with a seccomp and AppArmor profile that allow it (see docs/security.md), or run outside of it"
)
_LANDLOCK = "boot a kernel of version 5.13 or later with Landlock (lsm=landlock,...)"
_FILTER = "use Linux on x86_64 or aarch64 with seccomp filters"
_OURS = "this is a defect or an unusual installation: please report it with the output of grade doctor"
_ANY_TREE = "make the interpreter's folders readable by everybody, or install it under /usr or /opt"

PROMISES = (
    Promise("imports", Level.NONE, "modules can be imported late", _ANY_TREE),
    Promise("private_folder", Level.NONE, "files can be written in the private folder", _OURS),
    Promise("threads", Level.NONE, "threads and parallel operations work", _OURS),
    Promise("memory", Level.NONE, "memory is limited", _OURS),
    Promise("read_files", Level.REDUCED, "files of the machine cannot be read or listed", _LANDLOCK),
    Promise("write_files", Level.REDUCED, "files of the machine cannot be written", _LANDLOCK),
    Promise("change_packages", Level.REDUCED, "the interpreter and its packages cannot be changed", _LANDLOCK),
    Promise("network", Level.REDUCED, "there is no network", _FILTER),
    Promise("unix_sockets", Level.REDUCED, "no Unix socket of the machine can be reached", _FILTER),
    Promise("odd_sockets", Level.REDUCED, "there are no other kinds of sockets", _FILTER),
    Promise("signals", Level.REDUCED, "no other process can be signalled", _FILTER),
    Promise("tracing", Level.REDUCED, "no other process can be read or traced", _FILTER),
    Promise("execute", Level.REDUCED, "no program can be executed", _FILTER),
    Promise("privileges", Level.REDUCED, "no privileges, and no way to gain any", _FILTER),
    Promise("new_namespaces", Level.REDUCED, "no namespaces can be made", _FILTER),
    Promise("ipc", Level.REDUCED, "there is no System V shared memory", _FILTER),
    Promise("processes", Level.REDUCED, "no process can be started unless the exercise allows it", _FILTER),
    Promise("daemons", Level.REDUCED, "nothing stays when a worker has ended", _NAMESPACES),
    Promise("see_files", Level.FULL, "the names of other files are not visible", _NAMESPACES),
    Promise("see_processes", Level.FULL, "other processes are not seen", _NAMESPACES),
    Promise("disk", Level.FULL, "the private folder is capped as a whole", _NAMESPACES),
)


def findings(results: Mapping[str, str]) -> list[Promise]:
    """The promises, with what the probe of each found. A probe that said nothing has not shown anything."""
    return [replace(each, why_not=results.get(each.name, "its probe did not answer")) for each in PROMISES]


def reached(rows: Sequence[Promise]) -> Level:
    """The highest level whose promises all hold, and those of the levels below."""
    # A level is the worth of its weakest promise: ten that hold do not make up for one that does not.
    broken = [row.level for row in rows if row.why_not]
    return Level(max(Level.NONE, min(broken) - 1)) if broken else Level.FULL


@dataclass(frozen=True)
class SandboxPlan:
    """How well workers are to be confined.

    Attributes:
        least: workers are not started below this level.
        most: no more than this is tried.
        hidden: folders that no worker may see, even where they lie inside what workers may see.
        readable: a file in one of them, which probes try to read.
        plain: whether workers are needed that have the standard library alone (`without` in exercise.yaml).
    """

    least: Level = Level.NONE
    most: Level = Level.FULL
    hidden: tuple[Path, ...] = ()
    readable: Path | None = None
    plain: bool = False


@dataclass(frozen=True)
class Reached:
    """What was found.

    Attributes:
        level: the highest level whose promises all hold.
        findings: the promises, each with what its probe found.
        refused: why not all layers could be had, or "".
    """

    level: Level
    findings: Sequence[Promise]
    refused: str

    def require(self, least: Level) -> None:
        """Refuse to go on below a level.

        Raises:
            ConfinementError: less was reached; says what is missing and what to do.
        """
        if self.level < least:
            raise ConfinementError(self.level.word, least.word, self.missing(least))

    def missing(self, level: Level = Level.FULL) -> list[str]:
        """What keeps this machine from a level: for each cause a sentence with what to do."""
        broken = [row for row in self.findings if row.why_not and row.level <= level]
        # One remedy for many promises is given once, with the names of them all.
        lines = [self.refused] if self.refused and (level is Level.FULL or not self.findings) else []
        for remedy in dict.fromkeys(row.remedy for row in broken):
            names = "; ".join(f"{row.name} ({row.why_not})" for row in broken if row.remedy == remedy)
            lines += [f"not so: {names}", f"what to do: {remedy}"]
        return lines


def packages_file() -> Path | None:
    """A file of PyTorch's, which workers that do without it must not be able to read."""
    found = importlib.util.find_spec("torch")
    return Path(found.origin) if found is not None and found.origin else None


_ENDS_S = 0.3
"""From the death of the worker server to that of the launcher, which is what is seen from here."""

_starter = ThreadPoolExecutor(1, "grade-starter")
"""The thread that starts what is to end with this process. Linux ends such a process with the thread that started it,
and a lane's thread, or one of a notebook's, may be over long before the workers are."""

CAN_FORK = sys.platform == "linux" and hasattr(os, "memfd_create")
"""Elsewhere fork is missing, or unsafe once torch is imported."""

_UNCONFINED = (
    "workers that start as fresh interpreters have no sandbox: leave out --start spawn and --device cuda, and on macOS "
    "and Windows use the container"
)


@dataclass(frozen=True)
class CheckProcess:
    """The check process of a lane.

    Attributes:
        process: itself.
        transport: the host's end of its channel.
        command: what it starts workers with, if these are fresh interpreters; else empty.
        plain_command: the same for workers that have the standard library alone.
        life: of the worker server that it has, see `Supply`.
    """

    process: Forked | subprocess.Popen[bytes]
    transport: Transport
    command: tuple[str, ...] = ()
    plain_command: tuple[str, ...] = ()
    life: int = 0


@dataclass(frozen=True)
class Supply:
    """What the check process of a lane is given, to start workers with.

    Attributes:
        server: a socket to the worker server, which is the lane's to close, or None.
        plain: one to the server whose workers have the standard library alone, or None.
        command: what starts a fresh interpreter; empty where there is a server.
        plain_command: what starts one that has the standard library alone.
        life: which server it is, counted from 0: one that was lost has a successor.
    """

    server: socket.socket | None = None
    plain: socket.socket | None = None
    command: tuple[str, ...] = ()
    plain_command: tuple[str, ...] = ()
    life: int = 0


class Source:
    """Where workers come from. Open it once, close it."""

    def wait_ready(self) -> Reached:
        """Wait until workers can be started; say how well they are confined.

        Raises:
            StartError: none can.
            ConfinementError: they are confined less well than is wanted.
        """
        raise NotImplementedError

    def supply(self, lane: int, *, plain: bool = False) -> Supply:
        """What a lane's check process starts its workers with. What was lost is started again.

        Args:
            lane: its number.
            plain: whether it needs workers that have the standard library alone, too.

        Raises:
            StartError: the worker server did not start.
        """
        raise NotImplementedError

    def open_check_process(self, lane: int, log: IO[bytes], *, plain: bool = False) -> CheckProcess:
        """Start the check process of a lane.

        Args:
            lane: its number.
            log: what it says besides its channel.
            plain: whether it needs workers that have the standard library alone, too.

        Raises:
            StartError: the worker server did not start.
        """
        raise NotImplementedError

    def was_lost(self, life: int) -> bool:
        """Whether what was supplied in this life gives no more workers, although the host did not end it."""
        return False

    def end_workers(self, lane: int) -> bool:
        """End the workers of a lane that are not spared; False if only ending the whole lane does that."""
        return False

    def close(self) -> None:
        """End it, and every worker with it."""


def open_source(start: Start, plan: SandboxPlan, zygote: Zygote | None = None) -> Source:
    """Where workers come from that start in this way.

    Args:
        start: how they start.
        plan: how they are confined.
        zygote: what a worker server is forked from; by default one of its own.
    """
    return WorkerServer(plan, zygote) if start is Start.FORK else FreshInterpreters(plan)


class WorkerServer(Source):
    """The warm process that workers are forked from, and, where it is needed, the one of those without PyTorch.

    Args:
        plan: how well workers are to be confined.
        zygote: what it is forked from; by default one of its own.
        is_plain: whether its workers have the standard library alone. It is started as a command then, and not forked.
    """

    def __init__(self, plan: SandboxPlan, zygote: Zygote | None = None, *, is_plain: bool = False) -> None:
        self._plan, self._is_plain = plan, is_plain
        self._has_own = zygote is None and not is_plain
        self._zygote = Zygote() if self._has_own else zygote
        self._lock = threading.RLock()  # of lanes that work at once, one asks at a time
        self._life = 0
        self._before: Reached | None = None
        self._plain: WorkerServer | None = None
        self._process: Forked | subprocess.Popen[bytes]
        self._start()
        if plan.plain and not is_plain:
            self._start_plain()

    def _start_plain(self) -> WorkerServer:
        if self._plain is None:
            self._plain = WorkerServer(self._plan, is_plain=True)
        return self._plain

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        most, hidden = self._plan.most, tuple(map(os.path.realpath, self._plan.hidden))
        asks = most is Level.FULL, most > Level.NONE
        with theirs:
            if self._zygote is not None:
                shown, listed = workers_paths()
                plan = LaunchPlan(View(tuple(shown), hidden, tuple(listed)), (), *asks)
                self._process = self._zygote.fork(messages.StartServer(plan), self._log, [theirs.fileno()])
            else:
                server = isolated_plain("grader.worker", "plain", "server", str(theirs.fileno()))
                shown, without = plain_paths()
                plan = LaunchPlan(View(tuple(shown), (*hidden, *without)), tuple(server), *asks)
                command = isolated("grader.sandbox.launch", to_text(plan), str(os.getpid()))
                start = partial(start_for_workers, command, self._log, [theirs.fileno()])
                self._process = _starter.submit(start).result()
        self._socket = ours
        self._reached: Reached | None = None

    def wait_ready(self) -> Reached:
        """Wait until it has imported torch and tried how well workers are confined."""
        with self._lock:
            self._reached = self._reached or self._tried()  # it answers once, and each lane asks
        # Reports have named the level by now; a successor must not be worse.
        if self._before is not None and self._reached.level < self._before.level:
            was, now = self._before.level.word, self._reached.level.word
            raise StartError(f"the worker server was lost, and its successor reaches {now} where it had {was}")
        self._reached.require(self._plan.least)
        if self._plain is not None:
            return min(self._reached, self._plain.wait_ready(), key=lambda reached: reached.level)
        return self._reached

    def _tried(self) -> Reached:
        """Lay out a folder, a port and Unix sockets of the host's, have probes reach for them; say what holds."""
        name = f"grade-{secrets.token_hex(8)}"
        with (
            tempfile.TemporaryDirectory(prefix="grade-probes-") as folder,
            # Things of the host's that really are there: a port that nobody listens on would prove nothing.
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as named,
        ):
            first, second, theirs = (os.path.join(folder, own) for own in ("first", "second", "theirs"))
            for path in (first, second, theirs):
                os.mkdir(path, mode=0o700)
            abstract.bind("\0" + name)
            bind_in(theirs, name, named)
            canary = Path(theirs, "canary.txt")
            canary.write_text("a file of the grader's", encoding="ascii")
            # What workers must not read is tried with what they would like to: the course, or what they do without.
            wished = (packages_file() if self._is_plain else self._plan.readable) or canary
            file, port = os.path.realpath(wished), server.getsockname()[1]
            message = self._ask(TryOut(file, theirs, os.getpid(), port, name, _MEMORY_MB, (first, second)))
        if not isinstance(message, messages.Found):
            raise self._not_started()
        rows, refused = findings(message.results), message.refused
        # More may hold by chance than was wanted; what was not built is not promised.
        return Reached(min(reached(rows), self._plan.most), rows, f"the kernel refuses: {refused}" if refused else "")

    def _ask(self, wanted: TryOut) -> messages.Message | None:
        """What the server answers; None if it is gone, or does not answer."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(START_S)
            send(self._socket, wanted)
            return receive(self._socket)[0]
        return None

    def supply(self, lane: int, *, plain: bool = False) -> Supply:
        """A new socket to it, or to its successor; and one to the other server, if it is needed."""
        with self._lock:
            own = self._supply(lane)
            if not plain:
                return own
            try:
                other = self._start_plain().supply(lane)
            except StartError:
                if own.server is not None:
                    own.server.close()
                raise
            return replace(own, plain=other.server)

    def _supply(self, lane: int) -> Supply:
        with self._lock:
            try:
                # Not waited for: most lanes are opened when it has just been started.
                return Supply(self.open_lane(lane), life=self._life)
            except StartError:
                if not self.was_lost(self._life):
                    raise
            self._before = self._reached
            self._end()
            self._life += 1
            self._start()
            return Supply(self.open_lane(lane), life=self._life)

    def was_lost(self, life: int) -> bool:
        """Whether the process has ended, or ends just now."""
        with self._lock, contextlib.suppress(subprocess.TimeoutExpired):
            if life == self._life:
                self._process.wait(_ENDS_S)
        if self._plain is not None and self._plain.was_lost(self._plain.life):
            return True
        return life != self._life or self._process.returncode is not None

    def open_lane(self, lane: int) -> socket.socket:
        """A new socket to it, for a lane's check process.

        Raises:
            StartError: it did not start.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            send(self._socket, messages.OpenLane(lane), [theirs.fileno()])
        except OSError:
            ours.close()
            raise self._not_started() from None
        finally:
            theirs.close()  # handed over or not: the server is to be the only one to hold it
        return ours

    def _not_started(self) -> StartError:
        own = tail(self._log)
        said = self._zygote.last_words() if own == SAID_NOTHING and self._zygote is not None else own
        return StartError(f"the worker server did not start: {said}")

    def open_check_process(self, lane: int, log: IO[bytes], *, plain: bool = False) -> CheckProcess:
        """Fork it from the zygote's template."""
        assert self._zygote is not None
        supply = self.supply(lane, plain=plain)
        ours, theirs = socket.socketpair()
        # The check process alone holds them then: when it dies they close, and the servers end the lane's workers.
        with ExitStack() as opened:
            given = [opened.enter_context(each) for each in (theirs, supply.server, supply.plain) if each is not None]
            process = self._zygote.fork(messages.StartCheckProcess(), log, [each.fileno() for each in given])
        return CheckProcess(process, SocketTransport(ours), life=supply.life)

    def end_workers(self, lane: int) -> bool:
        """Tell the server, which ends them at once."""
        if self._plain is not None:
            self._plain.end_workers(lane)
        with contextlib.suppress(OSError):  # it is gone, and they with it
            send(self._socket, messages.EndWorkers(lane))
        return True

    @property
    def life(self) -> int:
        """Which server it is, counted from 0."""
        return self._life

    def close(self) -> None:
        """End it; it ends its workers."""
        if self._plain is not None:
            self._plain.close()
            self._plain = None
        self._end()
        if self._has_own and self._zygote is not None:
            self._zygote.close()

    def _end(self) -> None:
        self._socket.close()
        end(self._process)
        self._log.close()


class FreshInterpreters(Source):
    """Workers as fresh interpreters, each started by the check process of its lane. They have limits and no sandbox.

    Raises:
        ConfinementError: they are to be confined.
    """

    def __init__(self, plan: SandboxPlan) -> None:
        self._reached = Reached(Level.NONE, [], _UNCONFINED)
        self._reached.require(plan.least)

    def wait_ready(self) -> Reached:
        """There is nothing to wait for, and nothing to try."""
        return self._reached

    def supply(self, lane: int, *, plain: bool = False) -> Supply:
        """The commands that start one of each kind."""
        del lane, plain
        command, other = (
            isolated("grader.worker", "torch", "spawned"),
            isolated_plain("grader.worker", "plain", "spawned"),
        )
        return Supply(command=tuple(command), plain_command=tuple(other))

    def open_check_process(self, lane: int, log: IO[bytes], *, plain: bool = False) -> CheckProcess:
        """Start a fresh interpreter."""
        # One thread can wait for a socket with a deadline; a pair of pipes takes two more.
        ends = socket.socketpair() if hasattr(socket, "AF_UNIX") else None
        process = subprocess.Popen(
            isolated("grader.check_process"),
            stdin=ends[1].fileno() if ends else subprocess.PIPE,
            stdout=ends[1].fileno() if ends else subprocess.PIPE,
            stderr=log,
            env=clean_environment(PYDANTIC_DISABLE_PLUGINS="__all__"),  # it reads its messages with pydantic
            start_new_session=True,
        )
        if ends:
            ends[1].close()
        transport = SocketTransport(ends[0]) if ends else pipes_of(process)
        supply = self.supply(lane, plain=plain)
        return CheckProcess(process, transport, supply.command, supply.plain_command)
