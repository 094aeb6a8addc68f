"""The one store of earlier results: an SQLite file in a student's folder, in a course, or in a batch's folder.

A result is found again by its author, its exercise and its `ResultKey`: digests of all that determines a verdict.
Where none of them changed, an exercise need not be graded again. A student's and an author's store is a cache: it has
only what the next run would find as well, it forgets the oldest, and a file that cannot be used is made anew. A batch's
journal (`batch.journal`) is the same file with tables of its own, and has everything.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import platform
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from grader.course.answers import wrong_files
from grader.course.layout import BUNDLED
from grader.grading.behaviour import COSTS, Trace, Traces
from grader.grading.handed_in import as_handed_in
from grader.grading.outcomes import Outcomes, WorkResult
from grader.grading.plan import Work
from grader.model import DeviceKind, Environment, Exercise, GradedExercise, Verdict
from grader.model.errors import CourseError
from grader.model.files import from_json, to_json
from grader.model.messages import Level, Setup

_version = functools.cache(metadata.version)  # it parses a file each time, and each author has a report
_DIGITS = 32
_REASONS = {
    "files": "another submission",
    "judge": "checks, reference or limits were changed",
    "seed": "other inputs",
    "machine": "another grader, Python, PyTorch or NumPy",
    "mistakes": "known wrong answers were changed",
}

VERSION = 9
MOST_BYTES = 256 << 20
"""Of one value. The largest are the outcomes of an exercise, with all that it printed."""

_MANY_RESULTS, _MOST_RESULTS, _MOST_TRACES = 10_000, 30_000, 100_000
"""Of many results those go that a newer one replaces. The others stay as long as they are not more than the most, as
`grade verify` of a large course needs all of them: of 42 exercises it saves 7,000."""

_WAIT_S = 2.0
"""How long a cache waits for another process that writes to it."""

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, author TEXT NOT NULL, exercise TEXT NOT NULL,
    files TEXT NOT NULL, judge TEXT NOT NULL, seed TEXT NOT NULL, machine TEXT NOT NULL, mistakes TEXT NOT NULL,
    at TEXT NOT NULL, confinement TEXT, outcomes TEXT NOT NULL, path TEXT, text BLOB
);
CREATE INDEX IF NOT EXISTS results_of ON results (author, exercise, files, seed);
CREATE TABLE IF NOT EXISTS traces (
    key TEXT NOT NULL, check_id TEXT NOT NULL, verdict TEXT NOT NULL, story TEXT NOT NULL, has_value INTEGER NOT NULL,
    bytes INTEGER NOT NULL, same_for_all INTEGER NOT NULL,
    PRIMARY KEY (key, check_id)
);
"""

SAVE_TRACE = "INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?, ?, ?, ?)"
"""A row of `traces`, with a value for each column."""

_FORGET_REPLACED = """
DELETE FROM results WHERE id IN (
    SELECT id FROM results AS older WHERE EXISTS (
        SELECT 1 FROM results AS newer WHERE newer.author = older.author AND newer.exercise = older.exercise
        AND newer.files = older.files AND newer.seed = older.seed AND newer.id > older.id
    ) ORDER BY id LIMIT ?
)
"""
_FORGET_OLDEST = "DELETE FROM {0} WHERE rowid IN (SELECT rowid FROM {0} ORDER BY rowid DESC LIMIT -1 OFFSET ?)"


# -- what a verdict depends on -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultKey:
    """The key of a saved result: what the result of one exercise of a submission depends on.

    Attributes:
        files: the files of the exercise that were handed in.
        judge: its checks, probes, reference and limits.
        seed: the seed of the author's inputs.
        machine: the grader, what student code runs with, and how messages name files.
        mistakes: the known wrong answers: the diagnosis of lost points depends on them.
    """

    files: str
    judge: str
    seed: str
    machine: str
    mistakes: str

    def first_difference(self, other: ResultKey) -> str:
        """Return a phrase for the first part in which this key differs from another.

        If only the seeds differ, it is "other inputs". If no part differs, it is "graded again".
        """
        changed = (why for part, why in _REASONS.items() if getattr(self, part) != getattr(other, part))
        return next(changed, "graded again")


class Keys:
    """Makes the keys of a run's results. It reads each file of the course once; make a new one after a change."""

    def __init__(self) -> None:
        self._judges: dict[str, tuple[str, str]] = {}

    def of(self, work: Work) -> ResultKey:
        """Return the key by which the store finds the result of a work."""
        plan, exercise = work.plan, work.exercise
        handed_in, seed = self.of_author(work)
        # Whoever reads messages beside the files reads paths from the working folder, and how a run is confined.
        beside = (str(Path.cwd()), plan.setup.least, plan.setup.most, plan.compiles) if plan.has_folder else ()
        machine = digest_of(machine_digest(plan.setup), repr((*beside, plan.runs_untouched)))
        judge, mistakes = self._course_parts(exercise)
        # An author's answers get no diagnosis, so that one may be edited without the others being run again.
        return ResultKey(handed_in, judge, seed, machine, mistakes if plan.with_tries else "")

    def of_author(self, work: Work) -> tuple[str, str]:
        """Return the two parts of a work's key that depend on the author.

        Returns:
            The digest of the exercise's files, and the digest of the seed of the inputs.
        """
        own = work.submission.files_of(work.exercise)
        named: list[tuple[str, bytes | str]] = [*sorted(own.files.items())] or [("none", own.problem)]
        seed = work.plan.setup.seed_of(work.submission.author)
        return digest_of(*itertools.chain(*named)), digest_of(str(seed))

    def judge_digest(self, exercise: Exercise) -> str:
        """Return `judge_digest` of an exercise, which is computed once."""
        return self._course_parts(exercise)[0]

    def _course_parts(self, exercise: Exercise) -> tuple[str, str]:
        if exercise.id not in self._judges:
            self._judges[exercise.id] = judge_digest(exercise), digest_of(*map(_bytes_or_empty, wrong_files(exercise)))
        return self._judges[exercise.id]


def describe_machine(setup: Setup, reached: Level | None) -> Environment:
    """Return the description of machine and set-up that a report contains.

    Args:
        setup: the set-up of the run.
        reached: the level of confinement; None if no student code was run.
    """
    return Environment(
        python=platform.python_version(),
        torch=_version("torch"),
        numpy=_version("numpy"),
        os=f"{platform.system()} {platform.release()} {platform.machine()}",
        device="cuda" if setup.accelerator is DeviceKind.CUDA else "cpu",
        threads=1,
        seed=None if setup.secret else setup.seed,
        start=setup.start.value,
        confinement=reached.word if reached is not None else None,
        grader=_version("tensorgrade"),
    )


def machine_digest(setup: Setup) -> str:
    """Return a digest of the software, the machine, and how workers start.

    The software is the grader, Python, PyTorch and NumPy. Of the machine, the device and the architecture count.
    """
    machine = describe_machine(setup, None)
    parts = (machine.grader, machine.torch, machine.numpy, machine.python, machine.device, machine.os.split()[-1])
    return digest_of(package_digest(), setup.start.value, *parts)


@functools.cache
def package_digest() -> str:
    """Return a digest of all files of the package `grader`, without a bundled course.

    A version number is not enough: in a checkout files change without a new one.
    """
    root = Path(__file__).resolve().parent.parent
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and Path(folder, name) != root / BUNDLED)
        for name in sorted(names):
            path = Path(folder, name)
            whole.update(digest_of(path.relative_to(root).as_posix(), path.read_bytes()).encode())
    return whole.hexdigest()[:_DIGITS]


def judge_digest(exercise: Exercise) -> str:
    """Return a digest of the files and limits that judge an exercise, as they are now.

    The files are its checks, probes, reference, data and starter.
    """
    facts = repr(
        (exercise.id, asdict(exercise.limits), dict(exercise.contract), exercise.withheld.shares, exercise.without)
    )
    return digest_of(facts, exercise.starter_digest, *map(_bytes_or_empty, exercise.files))


def _bytes_or_empty(path: Path | None) -> bytes:
    return path.read_bytes() if path is not None and path.is_file() else b""


def digest_of(*parts: bytes | str) -> str:
    """Return a digest of several parts, as 32 hexadecimal digits.

    It depends on the length of each part, too: that of "ab" and "c" is another one than that of "a" and "bc".
    """
    whole = hashlib.sha256()
    for part in (part if isinstance(part, bytes) else as_bytes(part) for part in parts):
        whole.update(f"{len(part)}:".encode())
        whole.update(part)
    return whole.hexdigest()[:_DIGITS]


# -- results -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A saved result, as one row of the store.

    Attributes:
        id: its number in the store.
        author: the author of the submission.
        exercise: the exercise's id.
        key: the key: what the result depends on.
        at: the time when it was graded.
        confinement: the level that was reached, or None if no student code was run.
        outcomes: the outcomes of its checks.
        path: the path of the module in the folder of submissions, in a batch; None if it was the starter.
        text: the module itself.
    """

    id: int
    author: str
    exercise: str
    key: ResultKey
    at: str
    confinement: str | None
    outcomes: Outcomes
    path: str | None = None
    text: bytes | None = None


class Store:
    """A store of results in an open SQLite file; see `open_store`."""

    run = 0
    """The run that results are saved for; a batch numbers its runs."""

    unsaved = ""
    """Why a result could not be saved; "" if each was. Without it, it is found again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.keys = Keys()
        self._connection = connection
        self._lock = threading.Lock()  # lanes save how known wrong answers behave

    def find(self, work: Work) -> WorkResult | None:
        """Return the latest saved result for a work, or None.

        It was made with the same files, checks, inputs and machine, and confined as well as the set-up requires.
        """
        where = "author = CAST(? AS TEXT) AND exercise = ? AND files = ? AND seed = ? ORDER BY id DESC"
        rows: list[Saved] = []
        with suppress(sqlite3.OperationalError):  # another process writes for long; the exercise is graded again
            rows = self._select(where, as_bytes(work.submission.author), work.exercise.id, *self.keys.of_author(work))
        # The other parts take longer. After a change of the student's there is no such row.
        key = self.keys.of(work) if rows else None
        for saved in rows:
            assert key is not None
            # Only a diagnosis depends on the known mistakes.
            same = replace(saved.key, mistakes=key.mistakes) if saved.outcomes.state != "started" else saved.key
            if same == key and work.plan.setup.allows(saved.confinement):
                # Where its file lies may have changed.
                graded = as_handed_in(saved.outcomes.graded(work.exercise), work.submission)
                return WorkResult(work, graded, saved.confinement, saved=True, id=saved.id)
        return None

    def save(self, one: WorkResult) -> int | None:
        """Save a result if `is_repeatable`; return its number, or None if it was not saved."""
        return self.save_even_if_random(one) if is_repeatable(one.graded) else None

    def save_even_if_random(self, one: WorkResult) -> int | None:
        """Save a result, repeatable or not; return its number, or None if writing fails."""
        try:
            return self.insert_result(one)
        except sqlite3.Error as error:
            self.unsaved = str(error)
            return None

    def insert_result(self, one: WorkResult, path: str | None = None, text: bytes | None = None) -> int:
        """Write a result with the present time, and return its number in the store.

        Args:
            one: the result.
            path: the path of the file, if its text is kept.
            text: the text of the file, if it is kept.
        """
        author, key, outcomes = one.work.submission.author, self.keys.of(one.work), Outcomes.of(one.graded)
        return self.insert_saved(
            Saved(0, author, one.work.exercise.id, key, utc_now(), one.confinement, outcomes, path, text)
        )

    def insert_saved(self, saved: Saved) -> int:
        """Write a row under a new number, and return the number.

        The number in `saved` is ignored.
        """
        ending = saved.at, saved.confinement, to_json(saved.outcomes).decode("ascii")
        return self.insert(
            "INSERT INTO results VALUES (NULL, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?)",
            (self.run, as_bytes(saved.author), saved.exercise, *astuple(saved.key), *ending,
             as_bytes(saved.path or "") or None, saved.text),
        )  # fmt: skip

    def saved_results_of(self, author: str) -> list[Saved]:
        """Return all results of an author, the latest first."""
        return self._select("author = CAST(? AS TEXT) ORDER BY id DESC", as_bytes(author))

    def result(self, number: int) -> Saved:
        """Return the saved result with this number."""
        return self._select("id = ?", number)[0]

    def _select(self, where: str, *values: Any) -> list[Saved]:
        rows = self.execute(f"SELECT * FROM results WHERE {where}", values)  # noqa: S608
        return [
            Saved(id, author, exercise, ResultKey(*key), at, confinement, _parse_outcomes(outcomes, id), path, text)
            for id, _, author, exercise, *key, at, confinement, outcomes, path, text in rows
        ]

    def forget(self, exercise: str, judge: str) -> None:
        """Delete the results of an exercise that were judged by certain checks.

        The exercise is graded again in the next run.

        Args:
            exercise: the id of the exercise.
            judge: the `judge_digest` of the checks.

        Raises:
            CourseError: the file cannot be changed, such as while another program writes to it.
        """
        try:
            self.execute("DELETE FROM results WHERE exercise = ? AND judge = ?", (exercise, judge))
        except sqlite3.Error as error:
            ((_, _, path),) = self.execute("PRAGMA database_list")
            raise CourseError(
                f"{path}: earlier results of {exercise} cannot be removed ({error}); wait for what else writes to this "
                "file, or delete the file: results can be found again"
            ) from None

    def forget_results(self, numbers: Iterable[int]) -> None:
        """Delete the results with these numbers."""
        self.execute_all("DELETE FROM results WHERE id = ?", [(number,) for number in numbers])

    def traces(self, key: str) -> dict[str, Trace]:
        """Return the saved traces of a known wrong answer, by the ids of the checks.

        The dict is empty if no traces are saved, or if they cannot be read.

        Args:
            key: the digest of all that the traces depend on: the answer, what judges it, the machine and the seed.
        """
        with suppress(sqlite3.OperationalError, ValueError):  # it can be found again; there is no such verdict
            rows = self.execute("SELECT * FROM traces WHERE key = ?", (key,))
            return {
                id: Trace(Verdict(verdict), story, bool(value), size, bool(same))
                for _, id, verdict, story, value, size, same in rows
            }
        return {}

    def save_traces(self, key: str, traces: Traces) -> None:
        """Save the traces of a known wrong answer.

        Nothing is done if the file cannot be written.

        Args:
            key: the digest of all that the traces depend on, as in `traces`.
            traces: the traces, by the ids of the checks.
        """
        with suppress(sqlite3.Error):  # it can be found again
            rows = [(key, id, *astuple(trace)) for id, trace in traces.items()]
            self.execute_all(SAVE_TRACE, rows)

    def forget_oldest(self) -> None:
        """Delete replaced results, then the oldest results and traces, until few enough remain.

        A result is replaced by a newer one of the same author, exercise, files and seed.
        """
        ((count,),) = self.execute("SELECT count(*) FROM results")
        if count > _MANY_RESULTS:
            self.execute(_FORGET_REPLACED, (count - _MANY_RESULTS,))
        for table, most in (("results", _MOST_RESULTS), ("traces", _MOST_TRACES)):
            self.execute(_FORGET_OLDEST.format(table), (most,))

    def execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Run a statement, commit, and return all of its rows.

        Threads share the connection: each statement waits for the one before.
        """
        with self._lock, self._connection as connection:
            return connection.execute(statement, values).fetchall()

    def execute_all(self, statement: str, rows: Iterable[Any]) -> None:
        """Run a statement for each row of values, and commit once."""
        with self._lock, self._connection as connection:
            connection.executemany(statement, rows)

    def insert(self, statement: str, values: Any) -> int:
        """Insert a row, commit, and return the number of the row."""
        with self._lock, self._connection as connection:
            return connection.execute(statement, values).lastrowid or 0


def _parse_outcomes(text: str, number: int) -> Outcomes:
    return from_json(Outcomes, text, f"result {number} in the file of results")


@contextmanager
def open_store(path: Path | None) -> Iterator[Store]:
    """Open a cache of results in a file.

    The cache is in memory if `path` is None or the file cannot be written.
    """
    connection, why_not = _connect_or_use_memory(path)
    with closing(connection):
        store = Store(connection)
        store.unsaved = why_not
        yield store
        with suppress(sqlite3.Error):
            store.forget_oldest()


def _connect_or_use_memory(path: Path | None) -> tuple[sqlite3.Connection, str]:
    """Connect to the file, or to a new database in memory if that fails.

    A file that is damaged or of another version is deleted first.

    Returns:
        The connection, and why the file could not be used; "" if it could.
    """
    why_not = ""
    for _ in range(2 if path is not None else 0):
        assert path is not None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect(path, _WAIT_S)
            if prepare(connection):
                return connection, ""
            connection.close()
        except (sqlite3.OperationalError, OSError) as error:  # another process writes it, or nobody can
            why_not = str(error)
            break
        except sqlite3.DatabaseError as error:
            why_not = str(error)
        # Damaged, or of another version: it can all be found again.
        with suppress(OSError):
            path.unlink()
    connection = connect(":memory:", _WAIT_S)
    prepare(connection)
    return connection, why_not


def connect(path: Path | str, wait_s: float) -> sqlite3.Connection:
    """Open a connection to an SQLite file, for threads that share it one at a time.

    Args:
        path: the path of the file, or ":memory:".
        wait_s: the seconds to wait while another connection locks the file.
    """
    connection = sqlite3.connect(path, timeout=wait_s, check_same_thread=False)
    connection.text_factory = from_bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.execute("PRAGMA trusted_schema = OFF")  # somebody else may have written it
    return connection


def prepare(connection: sqlite3.Connection, tables: str = "") -> bool:
    """Create the tables in a new file; return False if the file is of another version.

    Args:
        connection: the connection to the file.
        tables: the statements that create more tables, separated by semicolons.

    Raises:
        sqlite3.DatabaseError: the file has a view or a trigger, so another program made it.
    """
    for kind, name in connection.execute("SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index')"):
        raise sqlite3.DatabaseError(f"it has a {kind}, {name}, which no version of this program makes")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in f"{_TABLES};{tables}".split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.commit()
    return version in (0, VERSION)


def is_repeatable(graded: GradedExercise) -> bool:
    """Return whether another run would have the same result.

    That is so if all checks ran, each verdict is repeatable, and each check of costs passed.
    """
    if not graded.checks or graded.left_out:
        return False
    verdicts = [(row.outcome.verdict, row.check.category) for row in graded.checks]
    return all(
        verdict.is_repeatable and (verdict is Verdict.PASSED or category != COSTS) for verdict, category in verdicts
    )


def as_bytes(name: str) -> bytes:
    """Encode a name as UTF-8; restore bytes of a file name that were not UTF-8."""
    return name.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """Decode a text of the store; the inverse of `as_bytes`."""
    return data.decode("utf-8", "surrogateescape")


def utc_now() -> str:
    """Return the present time in UTC as ISO 8601 text, such as "2026-11-30T16:57:00+00:00"."""
    return datetime.now(UTC).isoformat(timespec="seconds")
