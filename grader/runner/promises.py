"""What a confined process cannot do, as probes found it, and the level of confinement that follows.

A level is not believed: probes in a throw-away worker (`grader.sandbox.trials`) try to break each of its promises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.model.errors import ConfinementError
from grader.model.messages import Level


@dataclass(frozen=True)
class Promise:
    """One thing that a confined process cannot do, or that honest code still can.

    Attributes:
        name: the name of its probe.
        level: the least level that promises it.
        sentence: a sentence on what holds.
        remedy: a sentence on what makes it hold.
        why_not: the reason why it does not hold, as its probe found, or "".
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


def promises_with_findings(results: Mapping[str, str]) -> list[Promise]:
    """Return all promises of the sandbox, each with what its probe found.

    With `{"network": ""}`, the promise "network" holds. All others have "its probe did not answer".

    Args:
        results: a dict from the name of a promise to why it does not hold, or to "" if it holds. The probe of a promise
            that is missing did not answer.
    """
    return [replace(each, why_not=results.get(each.name, "its probe did not answer")) for each in PROMISES]


def highest_level(rows: Sequence[Promise]) -> Level:
    """Return the highest level of confinement up to which all promises hold.

    If only a promise of `Level.FULL` does not hold, it is `Level.REDUCED`.

    Args:
        rows: the promises of all levels, with what their probes found.
    """
    # A level is the worth of its weakest promise: ten that hold do not make up for one that does not.
    broken = [row.level for row in rows if row.why_not]
    return Level(max(Level.NONE, min(broken) - 1)) if broken else Level.FULL


@dataclass(frozen=True)
class SandboxPlan:
    """The plan of a sandbox: how well workers are to be confined, and what is hidden from them.

    Attributes:
        least: workers are not started below this level.
        most: no more than this is tried.
        hidden: folders that no worker may see, even where they lie inside what workers may see.
        readable: a file in one of them, which probes try to read.
        with_plain: True if workers are needed that have the standard library alone (`without` in exercise.yaml).
    """

    least: Level = Level.NONE
    most: Level = Level.FULL
    hidden: tuple[Path, ...] = ()
    readable: Path | None = None
    with_plain: bool = False


@dataclass(frozen=True)
class ReachedLevel:
    """The level of confinement that was reached, and what was found.

    Attributes:
        level: the highest level whose promises all hold.
        findings: the promises, each with what its probe found.
        refused: the reason why not all layers could be had, or "".
    """

    level: Level
    findings: Sequence[Promise]
    refused: str

    def require(self, least: Level) -> None:
        """Raise `ConfinementError` if the level that was reached is below `least`.

        Raises:
            ConfinementError: less was reached; the error says what is missing and what to do.
        """
        if self.level < least:
            raise ConfinementError(self.level.word, least.word, self.missing(least))

    def missing(self, level: Level = Level.FULL) -> list[str]:
        """Return sentences on why this machine does not reach a level, and on what to do.

        For each remedy there are two: "not so: network (...)", with what the probe found, and
        "what to do: use Linux on ...".
        """
        broken = [row for row in self.findings if row.why_not and row.level <= level]
        # One remedy for many promises is given once, with the names of them all.
        lines = [self.refused] if self.refused and (level is Level.FULL or not self.findings) else []
        for remedy in dict.fromkeys(row.remedy for row in broken):
            names = "; ".join(f"{row.name} ({row.why_not})" for row in broken if row.remedy == remedy)
            lines += [f"not so: {names}", f"what to do: {remedy}"]
        return lines
