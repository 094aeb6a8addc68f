"""The one store of earlier results: an SQLite file in a student's folder, in a course, or in a batch's folder.

A result is found again by its author, its exercise and its `Key`. A student's and an author's store is a cache: it has
only what the next run would find as well, it forgets the oldest, and a file that cannot be used is made anew. A batch's
journal (`batch.journal`) is the same file with tables of its own, and has everything.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.grading.behaviour import COSTS, Trace, Traces
from grader.grading.keys import Key, Keys
from grader.grading.outcomes import Outcomes, as_handed_in
from grader.grading.plan import Finished, Result, Work
from grader.model import GradedExercise, Verdict
from grader.model.typed import from_json, to_json

VERSION = 2
_MOST_RESULTS, _MOST_TRACES = 10_000, 40_000
_WAIT_S = 0.2
_HOLDS = (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED, Verdict.ERROR, Verdict.SKIPPED, Verdict.NOT_RUN)
"""The next run would find the same; a check that took too long or too much may end otherwise."""

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, author TEXT NOT NULL, exercise TEXT NOT NULL,
    files TEXT NOT NULL, judge TEXT NOT NULL, seed TEXT NOT NULL, machine TEXT NOT NULL, mistakes TEXT NOT NULL,
    at TEXT NOT NULL, confinement TEXT, outcomes TEXT NOT NULL, path TEXT, text BLOB
);
CREATE INDEX IF NOT EXISTS results_of ON results (author, exercise, files, seed);
CREATE TABLE IF NOT EXISTS traces (
    key TEXT NOT NULL, check_id TEXT NOT NULL, verdict TEXT NOT NULL, story TEXT NOT NULL, has_value INTEGER NOT NULL,
    PRIMARY KEY (key, check_id)
);
"""
_COLUMNS = "id, author, exercise, files, judge, seed, machine, mistakes, at, confinement, outcomes, path, text"


@dataclass(frozen=True)
class Saved:
    """One result, as it was saved.

    Attributes:
        id: its number in the store.
        author: of the submission.
        exercise: the exercise's id.
        key: what it depends on.
        at: when it was graded.
        confinement: the level that was reached, or None if no student code was run.
        outcomes: what was found.
        path: in a batch, where a module lay that lost points like no known mistake, from the folder of submissions.
        text: the module itself.
    """

    id: int
    author: str
    exercise: str
    key: Key
    at: str
    confinement: str | None
    outcomes: Outcomes
    path: str | None = None
    text: bytes | None = None


class Store:
    """An open store; see `open_store`."""

    run = 0
    """The run that results are saved for; a batch numbers its runs."""

    def __init__(self, connection: sqlite3.Connection, keys: Keys) -> None:
        self.keys = keys
        self._connection = connection
        self._lock = threading.Lock()  # lanes save how known wrong answers behave

    def find(self, work: Work) -> Finished | None:
        """What an earlier run found of the same files, checks, inputs and machine: the latest."""
        key = self.keys.of(work)
        where = "author = CAST(? AS TEXT) AND exercise = ? AND files = ? AND seed = ? ORDER BY id DESC"
        author = as_bytes(work.submission.author)
        for saved in self._saved(where, author, work.exercise.id, key.files, key.seed):
            # Only a diagnosis depends on the known mistakes.
            same = replace(saved.key, mistakes=key.mistakes) if saved.outcomes.state != "started" else saved.key
            if same == key and work.plan.setup.allows(saved.confinement):
                # Where its file lies may have changed.
                graded = as_handed_in(saved.outcomes.graded(work.exercise), work.submission)
                return Finished(work, Result(graded, saved.confinement), saved=True, id=saved.id)
        return None

    def save(self, work: Work, result: Result) -> int | None:
        """Save a result, if the next run would find the same; give its number."""
        with suppress(sqlite3.Error):  # it can be found again, in a second or two
            return self.add(work, result) if _will_hold(result.graded) else None
        return None

    def add(self, work: Work, result: Result, path: str | None = None, text: bytes | None = None) -> int:
        """Write a result down, as graded now."""
        author, exercise = work.submission.author, work.exercise.id
        outcomes = Outcomes.of(result.graded)
        return self.write(
            Saved(0, author, exercise, self.keys.of(work), now(), result.confinement, outcomes, path, text)
        )

    def write(self, saved: Saved) -> int:
        """Write a result down under a new number."""
        values = (self.run, as_bytes(saved.author), saved.exercise, *astuple(saved.key), saved.at, saved.confinement)
        return self.insert(
            f"INSERT INTO results (run, {_COLUMNS.partition(', ')[2]}) VALUES"  # noqa: S608
            " (?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, to_json(saved.outcomes).decode("ascii"), saved.path, saved.text),
        )

    def saved_of(self, author: str) -> list[Saved]:
        """All results of an author: the latest first."""
        return self._saved("author = CAST(? AS TEXT) ORDER BY id DESC", as_bytes(author))

    def result(self, number: int) -> Saved:
        """The result of a number."""
        return self._saved("id = ?", number)[0]

    def _saved(self, where: str, *values: Any) -> list[Saved]:
        rows = self.execute(f"SELECT {_COLUMNS} FROM results WHERE {where}", values)  # noqa: S608
        return [
            Saved(id, author, exercise, Key(*key), at, confinement, from_json(Outcomes, outcomes), path, text)
            for id, author, exercise, *key, at, confinement, outcomes, path, text in rows
        ]

    def forget(self, exercise: str, judge: str) -> None:
        """Forget the results of an exercise with these checks."""
        self.execute("DELETE FROM results WHERE exercise = ? AND judge = ?", (exercise, judge))

    def traces(self, key: str) -> dict[str, Trace]:
        """How a known wrong answer ended in checks, by their ids, as far as that was found."""
        rows = self.execute("SELECT check_id, verdict, story, has_value FROM traces WHERE key = ?", (key,))
        return {id: Trace(Verdict(verdict), story, bool(has_value)) for id, verdict, story, has_value in rows}

    def save_traces(self, key: str, traces: Traces) -> None:
        """Save how a known wrong answer ended."""
        with suppress(sqlite3.Error):  # it can be found again
            for id, trace in traces.items():
                values = (key, id, trace.verdict.value, trace.story, trace.has_value)
                self.execute("INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?, ?)", values)

    def forget_oldest(self) -> None:
        """Keep a cache small."""
        for table, most in (("results", _MOST_RESULTS), ("traces", _MOST_TRACES)):
            last = f"SELECT max(rowid) - {most} FROM {table}"  # noqa: S608
            self.execute(f"DELETE FROM {table} WHERE rowid <= ({last})")  # noqa: S608

    def execute(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Run a statement, committed at once, and give all of its rows: threads share the connection."""
        with self._lock, self._connection as connection:
            return connection.execute(statement, values).fetchall()

    def insert(self, statement: str, values: Any) -> int:
        """Insert a row, committed at once, and give its number."""
        with self._lock, self._connection as connection:
            return connection.execute(statement, values).lastrowid or 0


@contextmanager
def open_store(path: Path | None, keys: Keys | None = None) -> Iterator[Store]:
    """A cache of results in a file; without one, or where none can be written, it lasts as long as it is open."""
    with closing(_opened(path)) as connection:
        connection.text_factory = from_bytes
        store = Store(connection, keys or Keys())
        yield store
        with suppress(sqlite3.Error):
            store.forget_oldest()


def _opened(path: Path | None) -> sqlite3.Connection:
    for _ in range(2 if path is not None else 0):
        assert path is not None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect(path, _WAIT_S)
            if prepare(connection):
                return connection
            connection.close()
        except (sqlite3.OperationalError, OSError):  # another process writes it, or nobody can
            break
        except sqlite3.DatabaseError:
            pass
        # Damaged, or of another version: it can all be found again.
        with suppress(OSError):
            path.unlink()
    connection = connect(":memory:", _WAIT_S)
    prepare(connection)
    return connection


def connect(path: Path | str, wait_s: float) -> sqlite3.Connection:
    """A connection that threads may share, one at a time."""
    return sqlite3.connect(path, timeout=wait_s, check_same_thread=False)


def prepare(connection: sqlite3.Connection, tables: str = "") -> bool:
    """Make the tables in a new file; whether the file is of this version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in f"{_TABLES};{tables}".split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.commit()
    return version in (0, VERSION)


def _will_hold(graded: GradedExercise) -> bool:
    """Whether the next run would find the same: whoever is too slow today may pass tomorrow."""
    return (
        bool(graded.checks)
        and not graded.left_out
        and all(
            row.outcome.verdict in _HOLDS and (row.outcome.verdict is Verdict.PASSED or row.check.category != COSTS)
            for row in graded.checks
        )
    )


def as_bytes(author: str) -> bytes:
    """A name as bytes: the name of a folder may have bytes that are not text."""
    return author.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """A text of the store."""
    return data.decode("utf-8", "surrogateescape")


def now() -> str:
    """The time, as results are dated."""
    return datetime.now(UTC).isoformat(timespec="seconds")
