"""What the process that reads submissions is sent, and what it answers. `grader.model.typed` writes both as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.intake.handed import Handed, Unmatched
from grader.model import Exercise, Submission

CPU_S = 10
"""CPU seconds that one author's files may take. Usual ones take some milliseconds."""
CPU_CLASS_S = 1800
"""The same of a class's whole download."""
MEMORY_MB = 1024
OUT_OF_MEMORY = 3
"""The status with which the process ends if that was not enough."""


@dataclass(frozen=True)
class Request:
    """One thing to do: read what an author handed in, or unpack a class's download.

    Attributes:
        course: all exercises, in the first request.
        wanted: the ids of those that are graded.
        handed: what an author handed in.
        every: whether earlier attempts are wanted too.
        root: the folder that this is, where the host needs to know what lies in it.
        archive: the download of a class that is to be unpacked instead.
        folder: into which.
    """

    course: tuple[Exercise, ...] = ()
    wanted: tuple[str, ...] = ()
    handed: Handed | None = None
    every: bool = False
    root: Path | None = None
    archive: Path | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class Reply:
    """What came of it.

    Attributes:
        submissions: what counts, then earlier attempts.
        unmatched: what could not be read or matched.
        problem: why nothing could be read; or "".
        fault: an error of ours; or "".
    """

    submissions: tuple[Submission, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    problem: str = ""
    fault: str = ""
