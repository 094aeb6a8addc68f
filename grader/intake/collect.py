"""What is handed in → Submissions: the one reader of all commands, and what else must be known of a student's text.

Strangers' files are read by a process of ours, `reading`: a line of JSON in, a line of JSON out, under limits on CPU
time and memory. It runs no student code. It opens archives, notebooks and source texts that strangers made, one author
after another, and may be killed at any time: it is started again where it ended. No other process walks folders, opens
archives or parses text that was handed in.
"""

from __future__ import annotations

import atexit
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.layout import Places, is_course
from grader.intake.choice import submissions_of
from grader.intake.contents import Handed, Part, Unmatched
from grader.intake.match import exercise_of_file_name
from grader.model import Exercise, Submission
from grader.model.errors import GraderError, StartError, SubmissionError
from grader.model.files import from_json, to_json
from grader.model.report import ExerciseFiles
from grader.model.score import pluralize
from grader.sandbox.child import end, tail
from grader.sandbox.process import clean_environment, isolated_command

CPU_S = 20
"""CPU seconds that one author's files may take. Usual ones take some milliseconds."""
CPU_CLASS_S = 1800
"""The same of a class's whole download."""
MEMORY_MB = 1024
MEMORY_CLASS_MB = 4096
"""The same of a class's whole download, which has a line of metadata for each of ten thousand people."""

_KILLED = getattr(signal, "SIGKILL", signal.SIGTERM)
_LIMITS = {_KILLED, getattr(signal, "SIGXCPU", signal.SIGTERM)}
"""What ends a process that exceeds a limit."""

_WALL_FACTOR = 6
"""A busy machine, or one whose disk is slow, may take so many times the CPU time."""


def read_submission(folder: Path, exercises: Sequence[Exercise], author: str) -> Submission:
    """Read a student's own folder in this process, and return the submission.

    In a folder of the course, the file at the course's path is the answer, such as
    `exercises/01_making/double/double.py`, and files beside it can be imported. Another folder is read as if it had
    been handed in.

    Args:
        folder: the course, or a folder with files of exercises.
        exercises: the exercises to look for.
        author: the author's name.

    Raises:
        SubmissionError: the folder does not exist.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder with a submission")
    parts = _parts_with_answers(folder, exercises) if is_course(folder) else [Part(folder)]
    handed = Handed(author, (), tuple(parts))
    (submission, *_), _ = submissions_of(handed, exercises, exercises, root=folder)
    return submission


def _parts_with_answers(folder: Path, exercises: Sequence[Exercise]) -> list[Part]:
    """Return the folders and files of a course's folder in which a student's answers may lie.

    They are the folders `exercises/MODULE/EXERCISE` and `MODULE/EXERCISE` of each exercise, and the files at the top
    that are named after an exercise, such as `double.py`.
    """
    places = [place for item in exercises for place in (Places.of(item).shown, Path(item.module, item.id))]
    parts = [Part(folder / place, PurePosixPath(place.as_posix())) for place in places if (folder / place).is_dir()]
    single = [
        path for path in sorted(folder.iterdir()) if path.is_file() and exercise_of_file_name(path.name, exercises)
    ]
    return parts + [Part(path, PurePosixPath(path.name)) for path in single]


def collect(
    handed: Handed,
    course: Sequence[Exercise],
    wanted: Sequence[Exercise],
    *,
    with_earlier_attempts: bool = False,
    root: Path | None = None,
) -> tuple[list[Submission], list[Unmatched]]:
    """Read what an author handed in, in a separate process, and return it as submissions.

    Such files may be hostile, so the reading process has limits on time and memory. Files that cannot be read within
    the limits become a problem of this author's submission.

    Args:
        handed: the files that the author handed in.
        course: every exercise of the course.
        wanted: the exercises that are graded.
        with_earlier_attempts: True if each version that was handed in becomes a submission, and not the last alone.
        root: the folder from which paths are shown; None for whole paths.

    Returns:
        The submissions, first the one that counts; and the files that match no exercise.

    Raises:
        GraderError: an error of ours.
    """
    ids, course = tuple(exercise.id for exercise in wanted), tuple(course)
    request = Request(CPU_S, wanted=ids, handed=handed, with_earlier_attempts=with_earlier_attempts, root=root)
    try:
        reply = _ask_shared_reader(request, course)
    except SubmissionError as error:
        why = f"what was handed in cannot be read: {error}"
        row = Unmatched("", handed.key, why)
        # What lies beside a file that is too much for us, unless that is what was handed in.
        with suppress(SubmissionError):
            reply = _ask_shared_reader(replace(request, keeps_archives_closed=True), course)
            if any(own.files for own in reply.submissions[0].exercises.values()):
                return list(reply.submissions), [*reply.unmatched, row]
        unread = ExerciseFiles(path=handed.parts[0].path if handed.parts else None, problem=why)
        submission = Submission(handed.key, dict.fromkeys(ids, unread), "", root, handed.authors)
        return [submission], [row]
    return list(reply.submissions), list(reply.unmatched)


def collect_one(path: Path, course: Sequence[Exercise], wanted: Sequence[Exercise], author: str) -> Submission:
    """Return the submission of one author: the files in a folder or an archive, or one file.

    Args:
        path: the path of the folder, the archive or the file.
        course: every exercise of the course.
        wanted: the exercises that are graded.
        author: the author's name.

    Raises:
        SubmissionError: nothing is at the path, or a single file that is not an answer.
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
def open_intake(
    path: Path, exercises: Sequence[Exercise], name: str | None = None, out: Path | None = None
) -> Iterator[Intake]:
    """Read a class's folder or zip in a reading process, and yield its `Intake`.

    A zip is unpacked into a folder that only this user can read. The folder is removed when the block ends. If this
    process is killed, the reading process, which ends a moment later, removes the folder. See `layouts.read_download`.

    Args:
        path: the path of a folder or a zip.
        exercises: the exercises of the course.
        name: the name of the layout; None to detect it.
        out: the folder of the batch's results, which belongs to no author.

    Raises:
        SubmissionError: nothing can be read there, or it has no submission.
    """
    with (
        tempfile.TemporaryDirectory(prefix="grade-class-", ignore_cleanup_errors=True) as folder,
        closing(ReaderProcess(tuple(exercises), MEMORY_CLASS_MB)) as reader,
    ):
        reply = reader.ask(Request(CPU_CLASS_S, download=Download(path, Path(folder), name, out)))
        assert reply.intake is not None
        yield reply.intake


def names_in(files: Mapping[str, bytes], functions: Collection[str] = ()) -> frozenset[str]:
    """Return the names in a submission's code, to see if it does what a known mistake says.

    For `torch.cat(x, dim=0)` these are `torch`, `cat`, `x` and `dim`. The reading process parses the code. The set is
    empty if the code cannot be read within the limits.

    Args:
        files: the contents of the submission's files, by name.
        functions: the functions to search: their code, and the code that it uses; all code if it is empty.
    """
    with suppress(SubmissionError):
        return frozenset(
            _ask_shared_reader(Request(CPU_S, text=Text("names", tuple(files.values()), known=tuple(functions)))).names
        )
    return frozenset()


def functions_used_in(files: Mapping[str, bytes], function: str) -> frozenset[str]:
    """Return the names of the functions and classes that a submission's function uses.

    If `f` calls `g`, and `g` returns `C()`, those of `f` are `g` and `C`. The set is empty if the code cannot be read
    within the limits.

    Args:
        files: the contents of the submission's files, by name.
        function: the name of the function.
    """
    with suppress(SubmissionError):
        text = Text("functions", tuple(files.values()), known=(function,))
        return frozenset(_ask_shared_reader(Request(CPU_S, text=text)).names)
    return frozenset()


def functions_reached_in(files: Mapping[str, bytes], places: Iterable[tuple[str, int]]) -> frozenset[str] | None:
    """Return the functions of a submission that may have run before an exception was raised.

    A function that did not run cannot be at fault for the exception; see `code.functions_reached`. Classes are among
    them. Return None if the code cannot be read within the limits.

    Args:
        files: the contents of the submission's files, by name.
        places: the lines of the exception's traceback, such as `("double.py", 12)`.
    """
    names = list(files)
    rows = tuple((names.index(file), line) for file, line in places if file in files)
    with suppress(SubmissionError):
        text = Text("reached", tuple(files.values()), places=rows)
        return frozenset(_ask_shared_reader(Request(CPU_S, text=text)).names)
    return None


def anonymous_code(source: bytes, people: Collection[str], known: Collection[str]) -> str:
    """Return a student's code without what may show who wrote it: names, comments, docstrings.

    The reading process removes them; see `code.without_names`.

    Args:
        source: the file.
        people: the names of its authors.
        known: words that stay, also where somebody has such a name.

    Raises:
        SubmissionError: the file is not Python, imports a file beside it, or defines no function and no class.
    """
    return _ask_shared_reader(Request(CPU_S, text=Text("anonymous", (source,), tuple(people), tuple(known)))).code


def tokens_in(source: bytes) -> tuple[str, str, Sequence[Sequence[int]]] | None:
    """Return what copydetect needs to compare a file with others; see `code.tokens_of`.

    It is the text, its tokens, and the places of the tokens in the text. The reading process makes them. Return None if
    the file cannot be read within the limits.
    """
    with suppress(SubmissionError):
        reply = _ask_shared_reader(Request(CPU_S, text=Text("tokens", (source,))))
        return reply.code, reply.tokens, reply.places
    return None


@dataclass(frozen=True)
class Intake:
    """The submissions that were found in a class's folder or zip.

    Attributes:
        layout: the layout, in words for people: "a Canvas download".
        root: the folder in which the submissions lie.
        source: the path that was named: that folder, one around it, or a zip.
        handed: the submissions, sorted by key.
        unmatched: the files that belong to no author.
        notes: sentences about how it was read.
    """

    layout: str
    root: Path
    source: Path
    handed: tuple[Handed, ...]
    unmatched: tuple[Unmatched, ...]
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return a line that names the layout and counts files, authors and submissions.

        An example is "a Canvas download: 3 files of 2 authors". Submissions are counted only if they are not as many as
        the authors.
        """
        parts = sum(len(item.parts) for item in self.handed)
        people = len({author for item in self.handed for author in item.authors})
        groups = f", {pluralize(len(self.handed), 'submission')}" if len(self.handed) != people else ""
        files = f"{pluralize(parts, 'file')} of " if parts > len(self.handed) else ""
        return f"{self.layout}: {files}{pluralize(people, 'author')}{groups}"


# -- the process that reads --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Download:
    """A class's download.

    Attributes:
        path: a folder, or a zip of it.
        folder: an empty one, into which a zip is unpacked.
        name: the name of the layout; None to find it out.
        out: the folder of the batch's results, which belongs to no author.
    """

    path: Path
    folder: Path
    name: str | None = None
    out: Path | None = None


@dataclass(frozen=True)
class Text:
    """A question about texts: which names or functions they use, or the anonymous code or the tokens of one.

    Attributes:
        wanted: "names", "functions", "reached", "anonymous" or "tokens".
        files: the texts.
        people: names that must not stand in an anonymous one.
        known: words that stay in it; of "names" and "functions", the functions whose code counts.
        places: for "reached", an index in `files` and a line of that text for each line of a traceback.
    """

    wanted: str
    files: tuple[bytes, ...]
    people: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Request:
    """A request to the reading process: read what an author handed in, a class's download, or a text.

    Attributes:
        cpu_s: CPU seconds that it may take.
        course: all exercises, in the first request.
        wanted: the ids of those that are graded.
        handed: the files that an author handed in.
        with_earlier_attempts: True if earlier attempts are wanted too.
        root: the folder that paths are shown from.
        keeps_archives_closed: True if archives stay closed, as reading it all took too much.
        download: the download of a class, in place of what one author handed in.
        text: a text, in place of files.
    """

    cpu_s: int
    course: tuple[Exercise, ...] = ()
    wanted: tuple[str, ...] = ()
    handed: Handed | None = None
    with_earlier_attempts: bool = False
    root: Path | None = None
    keeps_archives_closed: bool = False
    download: Download | None = None
    text: Text | None = None


@dataclass(frozen=True)
class Reply:
    """The reply to a request.

    Attributes:
        submissions: the submission that counts, then earlier attempts.
        unmatched: the files that could not be read or matched.
        intake: the submissions in a class's download.
        names: the names in the code of texts.
        code: a text, or its anonymous code.
        tokens: the tokens of the text.
        places: the places of the tokens in the text.
        problem: the reason why nothing could be read; or "".
    """

    submissions: tuple[Submission, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    intake: Intake | None = None
    names: tuple[str, ...] = ()
    code: str = ""
    tokens: str = ""
    places: tuple[tuple[int, ...], ...] = ()
    problem: str = ""


class ReaderProcess:
    """A process that reads what strangers handed in, until a limit ends it.

    Args:
        course: all exercises of the course.
        memory_mb: the memory that it may take, in MiB.
    """

    def __init__(self, course: tuple[Exercise, ...], memory_mb: int = MEMORY_MB) -> None:
        self.course = course
        self._memory_mb = memory_mb
        self._start()

    def _start(self) -> None:
        self._unsent = self.course
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it is read when the process has ended
        self._process = subprocess.Popen(
            isolated_command("grader.intake.reading", str(self._memory_mb)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=clean_environment(),
        )

    def ask(self, request: Request) -> Reply:
        """Send a request to the process, and return the reply.

        If the process is killed from outside before a limit ends it, it is started again and gets the request again.

        Raises:
            SubmissionError: the files cannot be read, or not within the limits.
            GraderError: an error of ours.
        """
        began = time.monotonic()
        line = self._send_and_receive(request)
        in_time = time.monotonic() - began < _WALL_FACTOR * request.cpu_s
        if not line.endswith(b"\n") and in_time and self._end_with_status() == -_KILLED:
            self.close()
            self._start()
            line = self._send_and_receive(request)
        if not line.endswith(b"\n"):
            raise self._why_ended(request.cpu_s)
        reply = from_json(Reply, line)
        if reply.problem:
            raise SubmissionError(reply.problem)
        return reply

    def _send_and_receive(self, request: Request) -> bytes:
        """Send a request, and return the line of the reply.

        The line is incomplete or b"" if the process ends before it has replied.
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
        return line

    def _end_with_status(self) -> int | None:
        """End the process, which replies no more, and return its exit status."""
        end(self._process)
        return self._process.returncode

    def _why_ended(self, cpu_s: int) -> GraderError:
        """Return an error that says why the process ended: a crash, a limit, or a failed start.

        The process is ended first if it still runs.

        Args:
            cpu_s: the seconds of CPU time that the request allowed.
        """
        code = self._end_with_status()
        assert code is not None
        last = tail(self._log)
        if code < 0 and -code not in _LIMITS:  # the parser, or a library, does not survive it
            return SubmissionError(f"reading it ended the process that reads ({_signal_name(-code)})")
        if code < 0 or last.endswith("MemoryError"):  # a limit ended it
            limits = f"more than {cpu_s} s or {self._memory_mb} MiB of memory"
            return SubmissionError(f"reading it takes {limits}; hand in only the files of the exercises")
        return StartError(f"the process that reads submissions has ended: {last}")

    @property
    def has_ended(self) -> bool:
        """Return whether the process has ended, so that it takes no more requests."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with suppress(OSError):  # it has ended
                pipe.close()
        end(self._process)
        self._log.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_shared: list[ReaderProcess] = []
_one_at_a_time = threading.Lock()
"""Lanes ask in threads of their own."""


def _ask_shared_reader(request: Request, course: tuple[Exercise, ...] | None = None) -> Reply:
    """Send a request to the reading process that all threads share, and return the reply.

    The process knows the exercises of one course. It is started anew if it has ended, or if the request needs those of
    another course.

    Args:
        request: the request.
        course: the exercises that the request needs; None if it needs none, as to find the names in a text.

    Raises:
        SubmissionError: the files cannot be read, or not within the limits.
        GraderError: an error of ours.
    """
    with _one_at_a_time:
        if not _shared or _shared[0].has_ended or course not in (None, _shared[0].course):
            known = course if course is not None else _shared[0].course if _shared else ()
            while _shared:
                _shared.pop().close()
            _shared.append(ReaderProcess(known))
            atexit.register(_shared[0].close)
        return _shared[0].ask(request)
