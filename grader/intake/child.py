"""The process that reads submissions: a line of JSON in, a line of JSON out, under limits on CPU time and memory.

It runs no student code. It opens archives, notebooks and source texts that strangers made, and may be killed at any
time. It ends when its input does.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.intake.archive import unpack
from grader.intake.choice import submissions_of
from grader.intake.handed import Handed, Unmatched
from grader.model import Exercise, Submission
from grader.model.errors import SubmissionError
from grader.model.typed import from_json, to_json

if sys.platform != "win32":
    import resource

CPU_S = 10
"""CPU seconds that one author's files may take. Usual ones take some milliseconds."""
CPU_CLASS_S = 1800
"""The same of a class's whole download."""
MEMORY_MB = 1024


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


def answer(request: Request, course: Sequence[Exercise]) -> Reply:
    """Do what is requested."""
    try:
        if request.handed is not None:
            wanted = [exercise for exercise in course if exercise.id in request.wanted]
            own, unmatched = submissions_of(request.handed, course, wanted, every=request.every, root=request.root)
            return Reply(tuple(own), tuple(unmatched))
        assert request.archive is not None
        assert request.folder is not None
        return Reply(unmatched=tuple(unpack(request.archive, request.folder)))
    except SubmissionError as error:
        return Reply(problem=str(error))
    except MemoryError:
        raise  # the process ends, and the host says why
    except Exception as error:  # a fault of ours must not keep others from their marks
        return Reply(fault=f"{type(error).__name__}: {error}")


def main() -> None:
    """Answer requests until there are no more, then remove what was unpacked."""
    _limit_memory()
    course: Sequence[Exercise] = ()
    folders: list[Path] = []
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = from_json(Request, line)
        course = request.course or course
        _limit_time(CPU_S if request.archive is None else CPU_CLASS_S)
        answers.write(to_json(answer(request, course)) + b"\n")
        answers.flush()
        folders += [request.folder] if request.folder else []
    for folder in folders:  # also where the process that wanted them was killed
        shutil.rmtree(folder, ignore_errors=True)


def _limit_memory() -> None:
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):  # macOS has no such limit, and a smaller one may be set already
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, MEMORY_MB << 20))


def _limit_time(seconds: int) -> None:
    """Have this process killed if it uses so many CPU seconds more."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with suppress(ValueError):  # a smaller limit is set already
            resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
