"""What lies in a folder of submissions, whoever made it: frozen records, the same for every platform's download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.model import Exercise
from grader.model.score import counted

LATE = "handed in late, as Canvas says"
"""The note of what Canvas marks as late; it does not say how late."""

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
"""The file of Gradescope's export that says whose each submission is."""

SUBMITTED = "submitted"
"""The folder of nbgrader in which the authors' folders lie."""

NOTE_KINDS = {"handed in late": "late", "taken from": "taken from", "several versions": "several versions"}
"""Kinds of notes on files, by what such a note begins with."""

ALL_OF_IT = PurePosixPath()
"""The name of a folder that is all that somebody handed in."""


@dataclass(frozen=True)
class Part:
    """A file or folder on disk that belongs to what somebody handed in.

    Attributes:
        path: where it lies.
        name: what its author called it; `ALL_OF_IT` for a folder that is that.
    """

    path: Path
    name: PurePosixPath = ALL_OF_IT


@dataclass(frozen=True)
class Handed:
    """One thing that was handed in.

    Attributes:
        key: the name of its report, and of its author, or of its group: a number, where the platform gives one.
        authors: whose it is: a row of the gradebook each.
        parts: its files and folders.
        at: when it was handed in, in ISO 8601, as the platform says; "" if it does not.
        late: whether the platform says that it was late.
        name: of the person or the group, where `key` is a number; or "".
        returned: what the name of a file begins with that the platform's bulk upload gives back to them; or "".
    """

    key: str
    authors: tuple[str, ...]
    parts: tuple[Part, ...]
    at: str = ""
    late: bool = False
    name: str = ""
    returned: str = ""


@dataclass(frozen=True)
class Unmatched:
    """Something that belongs to no exercise or to no author.

    Attributes:
        file: its path, from the folder of submissions, or from its author's where that is known; "" for all of it.
        author: whose it is, or "" if that is unknown.
        why: in words.
    """

    file: str
    author: str
    why: str


Taken = tuple[Sequence[Handed], Sequence[Unmatched]]
"""What was handed in, and what belongs to no author."""


@dataclass(frozen=True)
class Layout:
    """How one platform lays out what it gives.

    Attributes:
        name: as it is typed.
        title: for people: "a Canvas download".
        fits: whether the items of a folder are laid out so.
        read: the items of a folder, and all exercises of the course, as what was handed in.
    """

    name: str
    title: str
    fits: Callable[[Sequence[Path]], bool]
    read: Callable[[Sequence[Path], Sequence[Exercise]], Taken]


@dataclass(frozen=True)
class Intake:
    """A folder of submissions, understood.

    Attributes:
        layout: how it is laid out.
        root: the folder in which the submissions lie.
        source: what was named: that folder, one around it, or a zip.
        handed: what was handed in, by key.
        unmatched: what belongs to no author.
    """

    layout: Layout
    root: Path
    source: Path
    handed: tuple[Handed, ...]
    unmatched: tuple[Unmatched, ...]

    def title(self) -> str:
        """What was handed in, in one line."""
        parts = sum(len(item.parts) for item in self.handed)
        people = len({author for item in self.handed for author in item.authors})
        groups = f", {counted(len(self.handed), 'submission')}" if len(self.handed) != people else ""
        files = f"{counted(parts, 'file')} of " if parts > len(self.handed) else ""
        return f"{self.layout.title}: {files}{counted(people, 'author')}{groups}"
