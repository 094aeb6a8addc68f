"""What is handed in → Submissions: the one reader of all commands.

Strangers' files are read by a process of ours that has limits on time and memory (`child`). It reads one author after
another, and is started again where it ended. What it answers is plain data.
"""

from __future__ import annotations

import atexit
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from grader.course.layout import Places, is_course
from grader.intake.child import CPU_CLASS_S, CPU_S, MEMORY_MB, Reply, Request
from grader.intake.choice import submissions_of
from grader.intake.handed import Handed, Part, Unmatched
from grader.intake.match import named
from grader.model import Exercise, Submission
from grader.model.errors import GraderError, StartError, SubmissionError
from grader.model.typed import from_json, to_json
from grader.sandbox.process import clean_environment, end, isolated, tail

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
    handed: Handed, course: Sequence[Exercise], wanted: Sequence[Exercise], *, every: bool = False
) -> tuple[list[Submission], list[Unmatched]]:
    """Read what an author handed in; see `submissions_of`. What cannot be read within limits is this author's problem.

    Raises:
        GraderError: an error of ours.
    """
    reply = _reader(course).read(handed, wanted, every=every)
    return list(reply.submissions), list(reply.unmatched)


def collect_one(path: Path, course: Sequence[Exercise], wanted: Sequence[Exercise], author: str) -> Submission:
    """Read what lies at a path, which is one author's: a folder, an archive or a single file.

    Raises:
        SubmissionError: nothing is there.
    """
    if not path.exists():
        raise SubmissionError(f"{path} is neither a folder with a submission nor a file")
    whole = path.is_dir()
    part = Part(path) if whole else Part(path, PurePosixPath(path.name))
    reply = _reader(course).read(Handed(author, (), (part,)), wanted, root=path if whole else None)
    return reply.submissions[0]


@contextmanager
def unpacked(archive: Path) -> Iterator[tuple[Path, list[Unmatched]]]:
    """A folder of this user alone with the files of a class's download, and what could not be read.

    It is removed afterwards, also if this process is killed: the one that unpacked it outlives it by a moment.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="grade-class-", ignore_cleanup_errors=True) as name, Reader(()) as reader:
        folder = Path(name)
        yield folder, list(reader.unpack(archive, folder).unmatched)


class Reader:
    """A process that reads what strangers handed in. It is started when it is needed, and again after it ended.

    Args:
        course: all exercises of the course.
    """

    def __init__(self, course: Sequence[Exercise]) -> None:
        self.course = tuple(course)
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Reader:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def read(
        self, handed: Handed, wanted: Sequence[Exercise], *, every: bool = False, root: Path | None = None
    ) -> Reply:
        """Read what one author handed in.

        Raises:
            GraderError: an error of ours.
        """
        ids = tuple(exercise.id for exercise in wanted)
        reply = self._ask(Request((), ids, handed, every, root), CPU_S)
        if not reply.problem:
            return reply
        why = f"what was handed in cannot be read: {reply.problem}"
        path = handed.parts[0].path if handed.parts else Path()
        submission = Submission(
            *(handed.key, {}, dict.fromkeys(ids, path), dict.fromkeys(ids, why), ""),
            authors=handed.authors,
            root=root,
        )
        return Reply((submission,), (Unmatched("", handed.key, why),))

    def unpack(self, archive: Path, folder: Path) -> Reply:
        """Unpack a class's download.

        Raises:
            SubmissionError: it cannot be read.
            GraderError: an error of ours.
        """
        reply = self._ask(Request(archive=archive, folder=folder), CPU_CLASS_S)
        if reply.problem:
            raise SubmissionError(reply.problem)
        return reply

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):
                process.stdin.close()
            end(process)
            process.stdout.close()
        if self._log is not None:
            self._log.close()

    def _ask(self, request: Request, cpu_s: int) -> Reply:
        with self._turn:
            if self._process is not None and self._process.poll() is not None:
                self.close()
            if self._process is None:
                self._start()
                request = replace(request, course=self.course)
            line = self._exchange(to_json(request) + b"\n", _WALL_FACTOR * cpu_s)
            if not line.endswith(b"\n"):
                return Reply(problem=self._why_ended(cpu_s))
        reply = from_json(Reply, line)
        if reply.fault:
            raise GraderError(reply.fault)
        return reply

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it is read when the process has ended
        self._process = subprocess.Popen(
            isolated("grader.intake.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=clean_environment(),
        )

    def _exchange(self, request: bytes, wall_s: int) -> bytes:
        """What the process answers; an incomplete line if it has ended, or was killed because it took too long."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(wall_s, process.kill)
        timer.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            return process.stdout.readline()
        except OSError:  # it has ended
            return b""
        finally:
            timer.cancel()

    def _why_ended(self, cpu_s: int) -> str:
        """Why the process has ended, where a submission is at fault.

        Raises:
            StartError: it did not start, or ended by itself.
        """
        process, log = self._process, self._log
        assert process is not None
        assert log is not None
        end(process)
        status, last = process.returncode, tail(log)
        self.close()
        if status < 0 or not last or last.endswith("MemoryError"):  # a limit ended it
            limits = f"more than {cpu_s} s or {MEMORY_MB} MiB of memory"
            return f"reading it takes {limits}; hand in the files of the exercises alone"
        raise StartError(f"the process that reads submissions has ended: {last}")


_shared: list[Reader] = []


def _reader(course: Sequence[Exercise]) -> Reader:
    """The reader of this process, for as long as the course stays the same."""
    if not _shared or _shared[0].course != tuple(course):
        while _shared:
            _shared.pop().close()
        _shared.append(Reader(course))
        atexit.register(_shared[0].close)
    return _shared[0]
