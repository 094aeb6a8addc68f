"""What became of each exercise of each submission, written down as it happens: a batch that was killed goes on from it.

An outcome is never changed or removed. A *seat* says which outcome of an author's exercise counts, and which one it
took the place of. While a journal is open, no other process can open it; that ends with the process, however it ends.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.grading.keys import Key
from grader.model.errors import CourseError, GraderError

FILE = "journal.sqlite"
_VERSION = 1
_WAIT_S = 0.2

_TABLES = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, told TEXT NOT NULL);
CREATE TABLE submissions (author TEXT PRIMARY KEY, authors TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE outcomes (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, author TEXT NOT NULL, exercise TEXT NOT NULL,
    files TEXT NOT NULL, judge TEXT NOT NULL, seed TEXT NOT NULL, machine TEXT NOT NULL, mistakes TEXT NOT NULL,
    at TEXT NOT NULL, confinement TEXT, told TEXT NOT NULL
);
CREATE INDEX outcomes_of ON outcomes (author, exercise);
CREATE TABLE seats (
    author TEXT NOT NULL, exercise TEXT NOT NULL, outcome INTEGER NOT NULL, replaces INTEGER, run INTEGER NOT NULL,
    PRIMARY KEY (author, exercise)
);
"""
_COLUMNS = "id, author, exercise, files, judge, seed, machine, mistakes, at, confinement, told"


@dataclass(frozen=True)
class Entry:
    """One outcome, as it was written down.

    Attributes:
        id: its number in the journal.
        author: of the submission.
        exercise: the exercise's id.
        key: what it hangs on.
        at: when it was graded.
        confinement: the level that was reached, or None if nothing was run.
        told: the outcome, as JSON data.
    """

    id: int
    author: str
    exercise: str
    key: Key
    at: str
    confinement: str | None
    told: dict[str, Any]


@dataclass(frozen=True)
class Seat:
    """Which outcome counts, which one it took the place of, if any, and in which run."""

    author: str
    exercise: str
    outcome: int
    replaces: int | None
    run: int


class Journal:
    """An open journal; see `open_journal`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (last,) = connection.execute("SELECT max(id) FROM outcomes").fetchone()
        self._numbers = itertools.count((last or 0) + 1)
        self.run = 0

    def begin(self, told: str) -> None:
        """Begin a run; what is written from now on belongs to it."""
        with self._connection as connection:
            row = connection.execute("INSERT INTO runs (started, told) VALUES (?, ?)", (_now(), told))
        self.run = row.lastrowid or 0

    def number(self) -> int:
        """A number for an outcome that is still to come: by when it was asked for, whichever comes first."""
        return next(self._numbers)

    def started(self, run: int) -> str:
        """When a run began."""
        return str(self._connection.execute("SELECT started FROM runs WHERE id = ?", (run,)).fetchone()[0])

    def add(
        self,
        number: int,
        author: str,
        exercise: str,
        key: Key,
        confinement: str | None,
        told: dict[str, Any],
        at: str = "",
    ) -> None:
        """Write an outcome down, by the number that it was given; it was graded now, if `at` does not say when."""
        parts = (key.files, key.judge, key.seed, key.machine, key.mistakes)
        values = (number, self.run, _text(author), exercise, *parts, at or _now(), confinement, json.dumps(told))
        with self._connection as connection:
            connection.execute("INSERT INTO outcomes VALUES (?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def seat(self, author: str, exercise: str, outcome: int) -> None:
        """Let an outcome count. What it took the place of stays the same until the run ends."""
        with self._connection as connection:
            connection.execute(
                "INSERT INTO seats VALUES (CAST(? AS TEXT), ?, ?, NULL, ?) ON CONFLICT DO UPDATE SET"
                " replaces = CASE run WHEN excluded.run THEN replaces ELSE outcome END,"
                " outcome = excluded.outcome, run = excluded.run WHERE outcome <> excluded.outcome",
                (_text(author), exercise, outcome, self.run),
            )

    def submission(self, author: str, authors: tuple[str, ...], digest: str) -> None:
        """Note whose a submission is."""
        with self._connection as connection:
            connection.execute(
                "INSERT INTO submissions VALUES (CAST(? AS TEXT), ?, ?) ON CONFLICT DO UPDATE SET"
                " authors = excluded.authors, digest = excluded.digest",
                (_text(author), json.dumps(authors), digest),
            )

    def take_over(self, other: Journal, authors: Collection[str] | None = None) -> None:
        """Write down what another journal has and this one has not, and let count what counts there.

        Args:
            other: the other one.
            authors: whose outcomes alone are taken over, where nothing counts here yet; None for all, in any case.
        """
        owners = dict.fromkeys(row[0] for row in other._connection.execute("SELECT author FROM outcomes ORDER BY id"))
        for author in owners if authors is None else authors:
            known = {_same(entry): entry.id for entry in self._all_of(author)}
            for entry in other._all_of(author):
                if _same(entry) not in known:
                    known[_same(entry)] = number = self.number()
                    self.add(number, author, entry.exercise, entry.key, entry.confinement, entry.told, entry.at)
            mine = set() if authors is None else {seat.exercise for seat in self.seats(author)}
            for seat in (seat for seat in other.seats(author) if seat.exercise not in mine):
                self.seat(author, seat.exercise, known[_same(other.entry(seat.outcome))])
        for author, names, digest in other.authors():
            if authors is None or author in authors:
                self.submission(author, names, digest)

    def _all_of(self, author: str) -> list[Entry]:
        found = self._connection.execute(
            f"SELECT {_COLUMNS} FROM outcomes WHERE author = CAST(? AS TEXT) ORDER BY id",  # noqa: S608
            (_text(author),),
        )
        return [_entry(row) for row in found]

    def entries(self, author: str, exercise: str) -> list[Entry]:
        """All outcomes of an exercise of an author, the latest first."""
        found = self._connection.execute(
            f"SELECT {_COLUMNS} FROM outcomes WHERE author = CAST(? AS TEXT) AND exercise = ? ORDER BY id DESC",  # noqa: S608
            (_text(author), exercise),
        )
        return [_entry(row) for row in found]

    def entry(self, number: int) -> Entry:
        """The outcome of a number."""
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM outcomes WHERE id = ?", (number,))  # noqa: S608
        return _entry(found.fetchone())

    def authors(self) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Each submission that was ever graded, by name: its author, its authors, its digest."""
        for author, authors, digest in self._connection.execute("SELECT * FROM submissions").fetchall():
            yield author, tuple(json.loads(authors)), digest

    def seats(self, author: str | None = None) -> list[Seat]:
        """Which outcomes count, of an author or of all."""
        if author is None:
            found = self._connection.execute("SELECT author, exercise, outcome, replaces, run FROM seats")
        else:
            found = self._connection.execute(
                "SELECT author, exercise, outcome, replaces, run FROM seats WHERE author = CAST(? AS TEXT)",
                (_text(author),),
            )
        return [Seat(*row) for row in found]


@contextmanager
def open_journal(out: Path, *, new: bool = True, file: str = FILE, wait_s: float = _WAIT_S) -> Iterator[Journal]:
    """The journal in a folder of results, for one process at a time.

    Args:
        out: the folder.
        new: whether one is made where there is none.
        file: its name, where it is not that of the whole class.
        wait_s: how long another process is waited for.

    Raises:
        CourseError: there is none, or another process has it.
        GraderError: it is damaged, or of another version, or there is no room on the disk.
    """
    path = out / file
    if not new and not path.is_file():
        raise CourseError(f"{out} has no {file}: name the folder that  grade batch --out  wrote")
    try:
        with closing(sqlite3.connect(path, timeout=wait_s)) as connection:
            os.chmod(path, 0o600)
            connection.text_factory = _from_text
            _lock(connection)
            yield Journal(connection)
    except sqlite3.Error as error:
        raise _told(path, error) from None


def _lock(connection: sqlite3.Connection) -> None:
    """Take the journal for this process alone, and see that it is one of ours."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")  # all is kept when this process is killed
    connection.execute("BEGIN EXCLUSIVE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    elif version != _VERSION:
        raise GraderError(
            f"the journal is of version {version}, and this grader reads {_VERSION}; grade into a new folder"
        )
    connection.commit()


def _told(path: Path, error: sqlite3.Error) -> GraderError:
    text = str(error)
    if "locked" in text:
        return CourseError(
            f"{path.parent} is in use by another  grade batch  or program; wait for that, or name another folder"
        )
    if "full" in text or "disk I/O" in text:
        return GraderError(f"{path}: {text}; make room, then run the same command again: what was graded is kept")
    return GraderError(f"{path} cannot be used: {text}; restore it from a copy, or grade into a new folder")


def _entry(row: tuple[Any, ...]) -> Entry:
    id, author, exercise, files, judge, seed, machine, mistakes, at, confinement, told = row
    return Entry(id, author, exercise, Key(files, judge, seed, machine, mistakes), at, confinement, json.loads(told))


def _same(entry: Entry) -> tuple[object, ...]:
    """What tells that two entries, of two journals, are of one outcome."""
    return entry.exercise, entry.key, entry.at, entry.confinement, json.dumps(entry.told)


def _text(author: str) -> bytes:
    """A name as bytes: a folder's name may have bytes that are no text."""
    return author.encode("utf-8", "surrogateescape")


def _from_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
