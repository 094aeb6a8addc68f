"""The three levels of confinement as the host sees them: what each promises, what is wanted, what was reached here.

A level is not believed but tried: probes in a throw-away worker (`grader.sandbox.trials`) try to break each promise.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.model.errors import ConfinementError
from grader.model.messages import Level
from grader.sandbox.messages import TryOut

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
    Promise("memory", Level.NONE, "memory is limited", _OURS),
    Promise("read_files", Level.REDUCED, "files of the machine cannot be read or listed", _LANDLOCK),
    Promise("write_files", Level.REDUCED, "files of the machine cannot be written", _LANDLOCK),
    Promise("network", Level.REDUCED, "there is no network", _FILTER),
    Promise("signals", Level.REDUCED, "no other process can be signalled", _FILTER),
    Promise("tracing", Level.REDUCED, "no other process can be read or traced", _FILTER),
    Promise("execute", Level.REDUCED, "no program can be executed", _FILTER),
    Promise("privileges", Level.REDUCED, "there are no privileges, and none can be had", _FILTER),
    Promise("processes", Level.REDUCED, "no process can be started where the exercise does not allow it", _FILTER),
    Promise("see_files", Level.FULL, "it is not even seen which files exist", _NAMESPACES),
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
    """

    least: Level = Level.NONE
    most: Level = Level.FULL
    hidden: tuple[Path, ...] = ()
    readable: Path | None = None


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

    def missing(self, level: Level) -> list[str]:
        """What keeps this machine from a level: for each cause a sentence with what to do."""
        broken = [row for row in self.findings if row.why_not and row.level <= level]
        # One remedy for many promises is given once, with the names of them all.
        lines = [self.refused] if self.refused and (level is Level.FULL or not self.findings) else []
        for remedy in dict.fromkeys(row.remedy for row in broken):
            names = "; ".join(f"{row.name} ({row.why_not})" for row in broken if row.remedy == remedy)
            lines += [f"not so: {names}", f"what to do: {remedy}"]
        return lines


def try_out(plan: SandboxPlan, refused: str, ask: Callable[[TryOut], Mapping[str, str]]) -> Reached:
    """Lay out a folder and a port of the host's, have probes reach for them; say what holds.

    Args:
        plan: what is wanted; whether it was reached is for the caller to see.
        refused: why the kernel did not give all layers, or "".
        ask: has the probes run; gives what they found, by name.
    """
    with (
        tempfile.TemporaryDirectory(prefix="grade-probes-") as folder,
        # Things of the host's that really are there: a port that nobody listens on would prove nothing.
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        own, theirs = os.path.join(folder, "own"), os.path.join(folder, "theirs")
        for path in (own, theirs):
            os.mkdir(path, mode=0o700)
        canary = Path(theirs, "canary.txt")
        canary.write_text("a file of the grader's", encoding="ascii")
        file = os.path.realpath(plan.readable or canary)
        port = server.getsockname()[1]
        results = ask(TryOut(file, theirs, os.getpid(), port, _MEMORY_MB, own))
    rows = findings(results)
    # More may hold by chance than was wanted; what was not built is not promised.
    return Reached(min(reached(rows), plan.most), rows, f"the kernel refuses: {refused}" if refused else "")
