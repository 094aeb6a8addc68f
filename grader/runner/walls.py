"""The host's side of the wall: what is asked for, what workers may see, what was reached on this machine."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.model import Device
from grader.model.errors import ConfinementError
from grader.model.messages import Setup
from grader.sandbox.levels import Finding, Level, findings, reached
from grader.sandbox.messages import LaunchPlan, Targets, TryWall, to_text
from grader.sandbox.start import interpreter_paths, isolated
from grader.sandbox.view import View

_MEMORY_MB = 512


@dataclass(frozen=True)
class WallPlan:
    """What confinement is asked for.

    Attributes:
        least: workers are not started below this level.
        most: no more than this is tried.
        hidden: folders that no worker may see, even where they lie inside what workers may see.
        readable: a file in one of them, which probes try to read.
    """

    least: Level = Level.NONE
    most: Level = Level.FULL
    hidden: tuple[Path, ...] = ()
    readable: Path | None = None

    @classmethod
    def of(cls, setup: Setup, hidden: tuple[Path, ...], readable: Path | None) -> WallPlan:
        """That of a run.

        Raises:
            ConfinementError: walls are asked for together with CUDA.
        """
        most = setup.most
        if setup.accelerator is Device.CUDA:
            if setup.least > Level.NONE:
                raise ConfinementError(
                    Level.NONE.word, setup.least.word, ["no CUDA device can be reached behind a wall"]
                )
            most = Level.NONE
        return cls(setup.least, most, hidden, readable)


@dataclass(frozen=True)
class Reached:
    """What was found.

    Attributes:
        level: the highest level whose promises all hold.
        findings: of each probe.
        refused: why the kernel did not give all layers, or "".
    """

    level: Level
    findings: Sequence[Finding]
    refused: str

    def require(self, least: Level) -> None:
        """Refuse to go on below a level.

        Raises:
            ConfinementError: less was reached; says what is missing and what to do.
        """
        if self.level < least:
            raise ConfinementError(self.level.word, least.word, self.missing(least))

    def missing(self, level: Level) -> list[str]:
        """What keeps this machine from a level: for each cause a sentence with what to do."""
        broken = [row for row in self.findings if row.found and row.promise.level <= level]
        # One remedy for many promises is told once, with the names of them all.
        lines = [f"the kernel refuses: {self.refused}"] if self.refused and level is Level.FULL else []
        for remedy in dict.fromkeys(row.promise.remedy for row in broken):
            names = "; ".join(f"{row.promise.name} ({row.found})" for row in broken if row.promise.remedy == remedy)
            lines += [f"not so: {names}", f"what to do: {remedy}"]
        return lines


def behind_wall(plan: WallPlan, module: str, *arguments: str, boxes: bool, least: Level = Level.NONE) -> list[str]:
    """The command that starts a module of ours behind the highest wall that this machine allows.

    Args:
        plan: what is asked for.
        module: of ours.
        arguments: of the module, which gets one more; see `grader.sandbox.launch`.
        boxes: whether it asks for boxes, as the worker server does.
        least: below this level it is not started.
    """
    view = View(tuple(interpreter_paths()), tuple(os.path.realpath(path) for path in plan.hidden))
    asked = LaunchPlan(view, tuple(isolated(module, *arguments)), boxes, plan.most, least)
    return isolated("grader.sandbox.launch", to_text(asked))


def try_out(plan: WallPlan, ask: Callable[[TryWall], tuple[Mapping[str, str], str]]) -> Reached:
    """Lay out targets, have probes try to reach them, and tell what holds.

    Args:
        plan: what is asked for.
        ask: has the probes run; gives what they found and why the kernel did not give all layers.

    Raises:
        ConfinementError: less was reached than is asked for.
    """
    with _targets(plan) as targets:
        found, refused = ask(targets)
    rows = findings(found)
    # More may hold by chance than was asked for; what was not built is not promised.
    result = Reached(min(reached(rows), plan.most), rows, refused)
    result.require(plan.least)
    return result


def unconfined(reason: str, plan: WallPlan) -> Reached:
    """Where there is no wall at all.

    Raises:
        ConfinementError: one is asked for.
    """
    result = Reached(Level.NONE, [], reason)
    result.require(plan.least)
    return result


@contextmanager
def _targets(plan: WallPlan) -> Iterator[TryWall]:
    """A folder, a port and an abstract Unix socket of the host's, for probes to reach for."""
    with (
        tempfile.TemporaryDirectory(prefix="grade-probes-") as folder,
        # Things of the host's that really are there: a port that nobody listens on would prove nothing.
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract,
    ):
        name = f"grade-{secrets.token_hex(8)}"
        abstract.bind("\0" + name)
        folders = [os.path.join(folder, own) for own in ("first", "second")]
        theirs = os.path.join(folder, "theirs")
        for path in (*folders, theirs):
            os.mkdir(path, mode=0o700)
        canary = Path(theirs, "canary.txt")
        canary.write_text("a file of the grader's", encoding="ascii")
        file = os.path.realpath(plan.readable or canary)
        port = server.getsockname()[1]
        yield TryWall(Targets(file, theirs, os.getpid(), port, name, _MEMORY_MB), tuple(folders))


def has_walls() -> bool:
    """Whether this system has what walls are made of."""
    return sys.platform == "linux" and hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
