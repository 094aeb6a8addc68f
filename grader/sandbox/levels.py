"""The three levels of confinement, what each promises, and what makes a machine keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How well workers are confined."""

    NONE = 0
    """A process of its own, with limits on time, memory, output and files."""
    REDUCED = 1
    """Files are hidden, the network and other processes are out of reach, no process can be started."""
    FULL = 2
    """Of the machine's files those are seen that the interpreter needs; all that is left is gone with the worker."""

    @property
    def word(self) -> str:
        """As the command line and reports say it."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Level:
        """The level of that name."""
        return cls[word.upper()]


@dataclass(frozen=True)
class Promise:
    """One thing that a confined process cannot do, or that honest code still can.

    Attributes:
        name: of its probe.
        level: the least level that promises it.
        sentence: what holds.
        remedy: what makes it hold.
    """

    name: str
    level: Level
    sentence: str
    remedy: str


@dataclass(frozen=True)
class Finding:
    """What a probe found.

    Attributes:
        promise: what was tried.
        found: why it does not hold, or "".
    """

    promise: Promise
    found: str


_NAMESPACES = (
    "let processes make user namespaces: outside of containers, sysctl kernel.unprivileged_userns_clone=1 and "
    "user.max_user_namespaces of 8 or more, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container, "
    "start it with a seccomp and AppArmor profile that allow it (see docs/security.md), or run outside of it"
)
_LANDLOCK = "boot a kernel of version 5.13 or later with Landlock (lsm=landlock,...)"
_FILTER = "use Linux on x86_64 or aarch64 with seccomp filters"
_OURS = "this is a defect or an odd installation: please report it with the output of grade doctor"
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
    Promise("privileges", Level.REDUCED, "there are no privileges, and none can be had", _FILTER),
    Promise("new_namespaces", Level.REDUCED, "no namespaces can be made", _FILTER),
    Promise("ipc", Level.REDUCED, "there is no System V shared memory", _FILTER),
    Promise("processes", Level.REDUCED, "no process can be started where the exercise does not allow it", _FILTER),
    Promise("daemons", Level.REDUCED, "nothing stays when a worker has ended", _NAMESPACES),
    Promise("see_files", Level.FULL, "it is not even seen which files exist", _NAMESPACES),
    Promise("see_processes", Level.FULL, "other processes are not seen", _NAMESPACES),
    Promise("disk", Level.FULL, "the private folder is capped as a whole", _NAMESPACES),
)


def findings(found: Mapping[str, str]) -> list[Finding]:
    """What probes found, by name, in the order of the promises. A probe that said nothing has not shown anything."""
    return [Finding(promise, found.get(promise.name, "its probe did not answer")) for promise in PROMISES]


def reached(rows: Sequence[Finding]) -> Level:
    """The highest level whose promises all hold, and those of the levels below."""
    # A level is the worth of its weakest promise: ten that hold do not make up for one that does not.
    broken = [row.promise.level for row in rows if row.found]
    return Level(max(Level.NONE, min(broken) - 1)) if broken else Level.FULL
