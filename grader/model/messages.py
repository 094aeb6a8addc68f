"""What the host and a check process say to each other, and how a run is set up.

host  -> check process   `Plan`, then a `Job` for each exercise of each submission; maybe another `Plan`, and so on
check process -> host    `Collected` for each plan, then for each job an `Outcome` for each check, and `Done`;
                         `Spawned` at any time
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

from grader.model import Check, DeviceKind, Outcome
from grader.model.course import PlannedExercise as PlannedExercise
from grader.model.files import from_json, to_json

PENDING, NOT_PENDING = "pending", b"\0"
"""A file of one byte in the folder of a plan, and the byte while no reply of a student's worker is pending.

A reply is pending while the check process takes it in. If the replies to one check hold very much, they stay pending
until that check has ended.
"""


class Start(StrEnum):
    """The way in which workers are started."""

    FORK = "fork"
    """Forked by a warm worker server: Linux."""
    SPAWN = "spawn"
    """Each a fresh interpreter, without a sandbox: everywhere."""


class Level(IntEnum):
    """The level of confinement of workers."""

    NONE = 0
    """A process of its own, with limits on time, memory, output and files."""
    REDUCED = 1
    """Files are hidden, the network and other processes are out of reach, no process can be started."""
    FULL = 2
    """Of the machine's files those are seen that the interpreter needs; all that is left is gone with the worker."""

    @property
    def word(self) -> str:
        """Return the level's name on the command line and in reports."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Level:
        """Return the level with a name such as "full"."""
        return cls[word.upper()]


@dataclass(frozen=True)
class Setup:
    """The setup of a run, the same for all its lanes on any machine.

    Attributes:
        start: the way in which workers are started.
        accelerator: the device for checks of devices: `DeviceKind.SIM`; or `DeviceKind.CUDA`, if workers are spawned.
        least: the level of confinement below which no student code is run.
        most: the level above which nothing is tried.
        seed: the seed of all random inputs, where they need not be secret: in a student's own copy, in `grade verify`.
        secret: in its place, of a run over many authors: from it and the author come the inputs.
    """

    start: Start
    accelerator: DeviceKind = DeviceKind.SIM
    least: Level = Level.NONE
    most: Level = Level.FULL
    seed: int = 0
    secret: bytes = b""

    def seed_of(self, author: str) -> int:
        """Return the seed of one author's inputs.

        Without a secret, all authors have the seed of the run. With a secret, each author has another seed and so other
        inputs: what one worker sees of a hidden input is of no use to another author. Such a seed reveals neither the
        secret nor another author's seed.
        """
        if not self.secret:
            return self.seed
        return int.from_bytes(hmac.digest(self.secret, author.encode("utf-8", "surrogateescape"), "sha256"), "big")

    def allows(self, confinement: str | None) -> bool:
        """Return whether a level of confinement, such as "full", is enough for this run.

        Return True for None, which means that no student code ran.
        """
        return not confinement or Level.of(confinement) >= self.least


@dataclass(frozen=True)
class Plan:
    """The plan of a check process: its exercises, and what it may use.

    Attributes:
        root: an empty folder for its workers' folders.
        spawn: the command that starts a worker; empty where the worker server forks them.
        accelerator: the device for checks of devices.
        exercises: the exercises whose checks it collects.
        folders: the folders of their courses; it reads no other files.
        spawn_plain: the command that starts a worker with the standard library alone; empty where a server forks them.
    """

    root: Path
    spawn: tuple[str, ...]
    accelerator: DeviceKind
    exercises: tuple[PlannedExercise, ...]
    folders: tuple[Path, ...] = ()
    spawn_plain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collected:
    """The checks that were collected.

    Attributes:
        checks: the checks of all exercises, in the order in which they run.
        problems: the reason why the checks of an exercise cannot be collected, by exercise.
        accelerators: the number of devices of the accelerator; with none, nothing can be run.
        findings: lines of check files, for staff, that have no effect on student code, or are never graded.
    """

    checks: tuple[Check, ...]
    problems: Mapping[str, str]
    accelerators: int
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckSelection:
    """The selection of the checks of an exercise that are run; by default all of them, for the first time.

    Attributes:
        only: their ids, or None for all.
        again: True if they were inconclusive, and all else is done. What a check of speed finds against the student
            counts only then; before, it is inconclusive.
        stops: True if the first that loses points is the last to run.
        with_tries: True if somebody reads the lines to try: for these, code runs once more for each check that fails.
        traced: by id, checks for which a report says what took virtual time: of the check itself, or, where there are
            lines, of these lines in its place.
        typed: lines that are run in the place of a check, by id; the message says what they print.
        compares: True if the calls of each check are made in its place: the outcome says what functions returned.
    """

    only: frozenset[str] | None = None
    again: bool = False
    stops: bool = False
    with_tries: bool = True
    traced: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    compares: bool = False

    def has(self, check: str) -> bool:
        """Return whether the check with this id is selected."""
        return self.only is None or check in self.only


ALL = CheckSelection()


@dataclass(frozen=True)
class Job:
    """One exercise of one submission.

    Attributes:
        exercise: its id.
        files: the submission's files by relative name.
        seed: the seed of the author's inputs.
        folder: the folder of the files, as the student types it; "" if unknown.
        selection: the selection of checks that are run.
    """

    exercise: str
    files: Mapping[str, bytes]
    seed: int
    folder: str = ""
    selection: CheckSelection = ALL


@dataclass(frozen=True)
class Spawned:
    """A worker was started that does not end with its check process."""

    pid: int


@dataclass(frozen=True)
class Done:
    """A job is done.

    Attributes:
        output: the text that student code printed while shown checks ran.
        waited_s: seconds for which workers were ready to run and had no core; None where the system does not tell.
        workers: the number of workers that were started for it: the student's, and those of references that are new.
    """

    output: str
    waited_s: float | None = None
    workers: int = 0


Message = Plan | Collected | Job | Spawned | Outcome | Done

_KINDS: Mapping[str, type[Message]] = {kind.__name__: kind for kind in Message.__args__}


def to_frame(message: Message) -> tuple[dict[str, Any], list[bytes]]:
    """Return a message as the tree and the data of a frame, to send it to another process.

    `Spawned(7)` becomes `({"kind": "Spawned"}, [b'{"pid":7}'])`.
    """
    return {"kind": type(message).__name__}, [to_json(message)]


def from_frame(tree: Mapping[str, Any], data: memoryview) -> Message:
    """Return the message of a frame that `to_frame` made."""
    kind = _KINDS[tree["kind"]]
    return from_json(kind, bytes(data), kind.__name__)
