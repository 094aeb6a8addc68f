"""What is handed in → Submissions: the one reader of all commands.

Strangers' files are read by a process of ours, which is this module run as a program: a line of JSON in, a line of JSON
out, under limits on CPU time and memory. It runs no student code. It opens archives, notebooks and source texts that
strangers made, one author after another, and may be killed at any time: it is started again where it ended.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.layout import Places, is_course
from grader.intake.choice import submissions_of
from grader.intake.contents import Handed, Part, Unmatched, unpack
from grader.intake.match import named
from grader.model import Exercise, Submission
from grader.model.errors import GraderError, StartError, SubmissionError
from grader.model.files import from_json, to_json
from grader.model.report import ExerciseFiles
from grader.sandbox.process import clean_environment, end, isolated, tail

if sys.platform != "win32":
    import resource

CPU_S = 10
"""CPU seconds that one author's files may take. Usual ones take some milliseconds."""
CPU_CLASS_S = 1800
"""The same of a class's whole download."""
MEMORY_MB = 1024

_WALL_FACTOR = 6
"""A busy machine, or one whose disk is slow, may take so many times the CPU time."""


def read_submission(folder: Path, exercises: Sequence[Exercise], author: str) -> Submission:
    """Read what a student's own folder has for exercises, in this process.

    In a course's folder the files at the course's places count, and files beside them come along. Another folder is
    read as if it had been handed in.

    Args:
        folder: the course, or a folder with files of exercises.
        exercises: the exercises to look for.
        author: who works there.

    Raises:
        SubmissionError: the folder does not exist.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder with a submission")
    parts = _own_parts(folder, exercises) if is_course(folder) else [Part(folder)]
    handed = Handed(author, (), tuple(parts))
    (submission, *_), _ = submissions_of(handed, exercises, exercises, root=folder)
    return submission


def _own_parts(folder: Path, exercises: Sequence[Exercise]) -> list[Part]:
    """The folders of exercises, which may also be laid out as MODULE/EXERCISE, and single files."""
    places = [place for item in exercises for place in (Places.of(item).shown, Path(item.module, item.id))]
    parts = [Part(folder / place, PurePosixPath(place.as_posix())) for place in places if (folder / place).is_dir()]
    single = [path for path in sorted(folder.iterdir()) if path.is_file() and named(path.name, exercises)]
    return parts + [Part(path, PurePosixPath(path.name)) for path in single]


def collect(
    handed: Handed,
    course: Sequence[Exercise],
    wanted: Sequence[Exercise],
    *,
    every: bool = False,
    root: Path | None = None,
) -> tuple[list[Submission], list[Unmatched]]:
    """Read what an author handed in; see `submissions_of`. What cannot be read within limits is this author's problem.

    Raises:
        GraderError: an error of ours.
    """
    ids = tuple(exercise.id for exercise in wanted)
    try:
        reply = _reader(tuple(course)).ask(Request(CPU_S, wanted=ids, handed=handed, every=every, root=root))
    except SubmissionError as error:
        why = f"what was handed in cannot be read: {error}"
        unread = ExerciseFiles(path=handed.parts[0].path if handed.parts else None, problem=why)
        submission = Submission(handed.key, dict.fromkeys(ids, unread), "", root, handed.authors)
        return [submission], [Unmatched("", handed.key, why)]
    return list(reply.submissions), list(reply.unmatched)


def collect_one(path: Path, course: Sequence[Exercise], wanted: Sequence[Exercise], author: str) -> Submission:
    """Read what lies at a path, which is one author's: a folder, an archive or a single file.

    Raises:
        SubmissionError: nothing is there, or a single file that is not an answer.
    """
    if not path.exists():
        raise SubmissionError(f"{path} is neither a folder with a submission nor a file")
    whole = path.is_dir()
    part = Part(path) if whole else Part(path, PurePosixPath(path.name))
    (submission, *_), unmatched = collect(Handed(author, (), (part,)), course, wanted, root=path if whole else None)
    left = [row for row in unmatched if row.file == path.name]
    if left and not whole and not any(own.files for own in submission.exercises.values()):
        raise SubmissionError(f"{path} cannot be graded: {left[0].why}")
    return submission


@contextmanager
def unpacked(archive: Path) -> Iterator[tuple[Path, list[Unmatched]]]:
    """A folder of this user alone with the files of a class's download, and what could not be read.

    It is removed afterwards, also if this process is killed: the one that unpacked it outlives it by a moment.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    with (
        tempfile.TemporaryDirectory(prefix="grade-class-", ignore_cleanup_errors=True) as name,
        closing(Reader(())) as reader,
    ):
        reply = reader.ask(Request(CPU_CLASS_S, archive=archive, folder=Path(name)))
        yield Path(name), list(reply.unmatched)


@dataclass(frozen=True)
class Request:
    """One thing to do: read what an author handed in, or unpack a class's download.

    Attributes:
        cpu_s: CPU seconds that it may take.
        course: all exercises, in the first request.
        wanted: the ids of those that are graded.
        handed: what an author handed in.
        every: whether earlier attempts are wanted too.
        root: the folder that this is, where the host needs to know what lies in it.
        archive: the download of a class that is to be unpacked instead.
        folder: into which.
    """

    cpu_s: int
    course: tuple[Exercise, ...] = ()
    wanted: tuple[str, ...] = ()
    handed: Handed | None = None
    every: bool = False
    root: Path | None = None
    archive: Path = Path()
    folder: Path = Path()


@dataclass(frozen=True)
class Reply:
    """What came of it.

    Attributes:
        submissions: what counts, then earlier attempts.
        unmatched: what could not be read or matched.
        problem: why nothing could be read; or "".
    """

    submissions: tuple[Submission, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    problem: str = ""


class Reader:
    """A process that reads what strangers handed in, until a limit ends it.

    Args:
        course: all exercises of the course.
    """

    def __init__(self, course: tuple[Exercise, ...]) -> None:
        self.course = self._unsent = course
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it is read when the process has ended
        self._process = subprocess.Popen(
            isolated("grader.intake.collect"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=clean_environment(),
        )

    def ask(self, request: Request) -> Reply:
        """Have something done.

        Raises:
            SubmissionError: what is named cannot be read, or not within the limits.
            GraderError: an error of ours.
        """
        request, self._unsent = replace(request, course=self._unsent), ()
        process, line = self._process, b""
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(_WALL_FACTOR * request.cpu_s, process.kill)
        timer.start()
        try:
            process.stdin.write(to_json(request) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            pass  # it has ended
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            raise self._why_ended(request.cpu_s)
        reply = from_json(Reply, line)
        if reply.problem:
            raise SubmissionError(reply.problem)
        return reply

    def _why_ended(self, cpu_s: int) -> GraderError:
        """Why the process has ended: a submission exceeded a limit, or it did not start, or ended by itself."""
        end(self._process)
        last = tail(self._log)
        if self._process.returncode < 0 or last.endswith("MemoryError"):  # a limit ended it
            limits = f"more than {cpu_s} s or {MEMORY_MB} MiB of memory"
            return SubmissionError(f"reading it takes {limits}; hand in the files of the exercises alone")
        return StartError(f"the process that reads submissions has ended: {last}")

    @property
    def has_ended(self) -> bool:
        """Whether another process must read what follows."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with suppress(OSError):  # it has ended
                pipe.close()
        end(self._process)
        self._log.close()


_shared: list[Reader] = []


def _reader(course: tuple[Exercise, ...]) -> Reader:
    """The reader of this process, for as long as the course stays the same."""
    if not _shared or _shared[0].has_ended or _shared[0].course != course:
        while _shared:
            _shared.pop().close()
        _shared.append(Reader(course))
        atexit.register(_shared[0].close)
    return _shared[0]


# -- the process that reads --------------------------------------------------------------------------------------------


def answer(request: Request, course: Sequence[Exercise]) -> Reply:
    """Do what is requested. Any other error ends the process, and the host says why."""
    try:
        if request.handed is not None:
            wanted = [exercise for exercise in course if exercise.id in request.wanted]
            own, unmatched = submissions_of(request.handed, course, wanted, every=request.every, root=request.root)
            return Reply(tuple(own), tuple(unmatched))
        return Reply(unmatched=tuple(unpack(request.archive, request.folder)))
    except SubmissionError as error:
        return Reply(problem=str(error))


def main() -> None:
    """Answer requests until there are no more, then remove what was unpacked."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):  # macOS has no such limit, and a smaller one may be set already
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, MEMORY_MB << 20))
    course: Sequence[Exercise] = ()
    folders: list[Path] = []
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = from_json(Request, line)
        course = request.course or course
        _limit_time(request.cpu_s)
        answers.write(to_json(answer(request, course)) + b"\n")
        answers.flush()
        folders += [request.folder] if request.handed is None else []
    for folder in folders:  # also where the process that wanted them was killed
        shutil.rmtree(folder, ignore_errors=True)


def _limit_time(seconds: int) -> None:
    """Have this process killed if it uses so many CPU seconds more."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with suppress(ValueError):  # a smaller limit is set already
            resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
