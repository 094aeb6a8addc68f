"""The results of a class, written down as they arrive: a batch that was killed goes on from its journal.

A journal is a store (`grading.store`) that forgets nothing, with tables of its own: its runs, whose a submission is,
and the *current* results: which result of an author's exercise counts, and which one it replaced. While a journal is
open, no other process can open it; that ends with the process, however it ends.

Several processes may grade one class, each a shard of it, with a journal of its own. A shard begins with what the whole
journal has of its submissions. A batch of the whole class takes in what shards have left.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.batch.known_results import KnownResults, ResultIdentity
from grader.grading.outcomes import WorkResult
from grader.grading.secret import load_or_make_secret
from grader.grading.store import SAVE_TRACE, ResultKey, Saved, Store, as_bytes, connect, prepare, utc_now
from grader.intake.contents import Handed
from grader.model import Exercise, GradedExercise
from grader.model.errors import CourseError, GraderError
from grader.model.files import sync, to_json

FILE = "journal.sqlite"
_SECRET_FILE = "seed"  # noqa: S105  its name
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_MAKE_ROOM = "make room, then run the same command again: what was graded is saved"
_WAIT_S = 0.2
_OTHER_SHARDS_S = 10.0
"""So long a shard waits for others that begin at the same time."""

_OF_A_SHARD = re.compile(r"journal-\d+-of-\d+\.sqlite")
MOODLES = "Participant_"
"""What names of files begin with that Moodle gives back."""

_TABLES = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, options TEXT NOT NULL, handin TEXT);
CREATE TABLE submissions (
    author TEXT PRIMARY KEY, authors TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL, late INTEGER NOT NULL
);
CREATE TABLE current (
    author TEXT NOT NULL, exercise TEXT NOT NULL, result INTEGER NOT NULL, replaces INTEGER, run INTEGER NOT NULL,
    PRIMARY KEY (author, exercise)
);
CREATE TABLE people (author TEXT PRIMARY KEY, name TEXT NOT NULL, returned TEXT NOT NULL)
"""

_OWN_TABLES = ("runs", "submissions", "current", "people")


@dataclass(frozen=True)
class Shard:
    """A part of a class that one of several processes grades, on any machine.

    `Shard(2, 4)` is the 2nd, the 6th, the 10th submission, and so on; its text is "2-of-4".

    Attributes:
        number: the number of this shard, from 1.
        count: the number of shards; each grades one of so many submissions.
    """

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"


@dataclass(frozen=True)
class CurrentResult:
    """The result that counts for an author's exercise, the one it replaced, if any, and the run that made it count."""

    author: str
    exercise: str
    result: int
    replaces: int | None
    run: int


@dataclass(frozen=True, order=True)
class SubmissionRecord:
    """A submission that was ever graded, with a digest in place of its files."""

    author: str
    authors: tuple[str, ...]
    digest: str
    at: str = ""
    late: bool = False

    @property
    def members(self) -> tuple[str, ...]:
        """Return the names of the group's members, or of the single author."""
        return self.authors or (self.author,)


class Journal(Store):
    """A store with all results of a class, and which of them count; see `open_journal`."""

    def __init__(self, connection: sqlite3.Connection, known: KnownResults | None = None) -> None:
        super().__init__(connection)
        self._root = Path()
        self._named = False
        self._known = known
        if known is not None:
            known.forget_missing(self.stamp(), self._identities)

    def begin(self, options: str, root: Path, handin: str | None = None) -> None:
        """Begin a run; what is written from now on belongs to it.

        Args:
            options: the options of the run, as JSON.
            root: the folder of all submissions.
            handin: the id of the hand-in that is graded, or None.
        """
        values = (utc_now(), options, handin)
        self.run = self.insert("INSERT INTO runs (started, options, handin) VALUES (?, ?, ?)", values)
        self._root = root

    def sync(self) -> None:
        """Flush all that was written so far to the disk, so that it survives a power cut.

        SQLite itself flushes only when it copies its log (the file `-wal`) into the database, and when it closes that.
        """
        path = Path(self.execute("PRAGMA database_list")[0][2])
        log = path.with_name(f"{path.name}-wal")
        if log.exists():
            sync(log)
            if not self._named:
                sync(path.parent)
                self._named = True

    def begun_at(self, run: int) -> str:
        """Return when a run began, such as "2026-11-30T16:57:00+00:00"."""
        return str(self.execute("SELECT started FROM runs WHERE id = ?", (run,))[0][0])

    def handin(self) -> str | None:
        """Return the id of the hand-in that the last run graded, or None."""
        rows = self.execute("SELECT handin FROM runs ORDER BY id DESC LIMIT 1")
        return rows[0][0] if rows else None

    def options(self) -> str:
        """Return the options of the last run, as JSON; "" before the first run."""
        rows = self.execute("SELECT options FROM runs ORDER BY id DESC LIMIT 1")
        return str(rows[0][0]) if rows else ""

    def stamp(self) -> str:
        """Return a digest that changes with each write of a result, a submission, a run or a name.

        It shows whether results that were read before may be out of date.
        """
        tables = [self.execute(f"SELECT * FROM {name}") for name in _OWN_TABLES]  # noqa: S608
        last = self.execute("SELECT max(id), count(*) FROM results")
        return hashlib.sha256(repr([last, *tables]).encode("utf-8", "backslashreplace")).hexdigest()

    def result(self, number: int) -> Saved:
        """Return the result that has this number."""
        read = super().result
        return read(number) if self._known is None else self._known.result(number, read)

    def graded(self, saved: Saved, exercise: Exercise) -> GradedExercise:
        """Return a saved result as a graded exercise, with the course's current points.

        Args:
            saved: the result.
            exercise: the exercise of the course.
        """
        return saved.outcomes.graded(exercise) if self._known is None else self._known.graded(saved, exercise)

    def _identities(self) -> dict[int, ResultIdentity]:
        rows = self.execute(
            "SELECT id, author, exercise, files, judge, seed, machine, mistakes, at, confinement FROM results"
        )
        return {id: (author, exercise, ResultKey(*key), at, level) for id, author, exercise, *key, at, level in rows}

    def save(self, one: WorkResult) -> int | None:
        """Write a result into the journal; return its number.

        The text of the student's module is saved with it, unless that is the starter.
        """
        own = one.work.submission.files_of(one.work.exercise)
        text = own.files.get(one.work.exercise.file_name)
        if text is None or own.path is None or own.untouched:
            return self.insert_result(one)
        return self.insert_result(one, Path(os.path.relpath(own.path, self._root)).as_posix(), text)

    def make_current(self, author: str, exercise: str, result: int) -> None:
        """Make a result the one that counts; remember which result counted before this run.

        Args:
            author: the author of the submission.
            exercise: the id of the exercise.
            result: the number of the result's row.
        """
        self.execute(
            "INSERT INTO current VALUES (CAST(? AS TEXT), ?, ?, NULL, ?) ON CONFLICT DO UPDATE SET"
            " replaces = CASE run WHEN excluded.run THEN replaces ELSE result END,"
            " result = excluded.result, run = excluded.run WHERE result <> excluded.result",
            (as_bytes(author), exercise, result, self.run),
        )

    def save_submission(self, record: SubmissionRecord) -> None:
        """Save the record of a submission.

        It replaces an older record of the same author.
        """
        self.execute(
            "INSERT OR REPLACE INTO submissions VALUES (CAST(? AS TEXT), ?, ?, ?, ?)",
            (as_bytes(record.author), json.dumps(record.authors), record.digest, record.at, record.late),
        )

    def submissions(self) -> list[SubmissionRecord]:
        """Return all submissions that were ever graded, sorted by author."""
        rows = self.execute("SELECT author, authors, digest, at, late FROM submissions")
        return sorted(SubmissionRecord(who, tuple(json.loads(names)), *rest) for who, names, *rest in rows)

    def save_people(self, handed: Iterable[Handed]) -> None:
        """Save the names of people and groups to whom a platform gave numbers.

        The prefixes of the names of their feedback files are saved, too. Number 17 of a Moodle download has the name
        `Ada Lovelace` and the prefix `Participant_17_assignsubmission_file_/`.
        """
        self._save_people_rows(
            (one.key, one.name, one.upload_prefix) for one in handed if one.name or one.upload_prefix
        )

    def _save_people_rows(self, rows: Iterable[Sequence[str]]) -> None:
        self.execute_all(
            "INSERT OR REPLACE INTO people VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))",
            [list(map(as_bytes, row)) for row in rows],
        )

    def names(self) -> dict[str, str]:
        """Return the names of people and groups, by the numbers that a platform gave them.

        An example is `{"17": "Ada Lovelace"}`.
        """
        return dict(self.execute("SELECT author, name FROM people WHERE name <> ''"))

    def upload_prefixes(self) -> dict[str, str]:
        """Return, by author, the prefix of file names that the platform accepts as feedback.

        An example is `{"17": "Participant_17_assignsubmission_file_/"}`.
        """
        return dict(self.execute("SELECT author, returned FROM people WHERE returned <> ''"))

    def platform(self) -> str:
        """Return the platform that gave authors their numbers.

        Returns:
            "canvas" or "moodle"; "" if no platform gave any numbers.
        """
        starts = set(self.upload_prefixes().values())
        return "moodle" if any(start.startswith(MOODLES) for start in starts) else "canvas" if starts else ""

    def modules(self, column: str, value: str) -> list[tuple[str, str, str, bytes]]:
        """Return the students' files whose results count, of one author or of one exercise.

        The unchanged starter is not among them.

        Args:
            column: the column that selects the modules, "author" or "exercise".
            value: the author, or the id of the exercise.

        Returns:
            Rows such as `("ada", "masks", "ada/masks.py", b"...")`: the author, the exercise, the path in the folder of
            submissions, and the text of the file.
        """
        return self.execute(
            "SELECT current.author, current.exercise, path, text FROM current JOIN results ON results.id = result"  # noqa: S608
            f" WHERE current.{column} = CAST(? AS TEXT) AND text IS NOT NULL ORDER BY current.author",
            (as_bytes(value),),
        )

    def forget_author(self, author: str) -> None:
        """Delete all rows of an author, and overwrite their bytes in the file."""
        self.execute("PRAGMA secure_delete = ON")
        for table in ("results", "submissions", "current", "people"):
            self.execute(f"DELETE FROM {table} WHERE author = CAST(? AS TEXT)", (as_bytes(author),))  # noqa: S608
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def current(self, author: str | None = None) -> list[CurrentResult]:
        """Return the results that count, one for each exercise of each author.

        Args:
            author: the author whose results are returned; None for all authors.
        """
        where, values = ("", ()) if author is None else (" WHERE author = CAST(? AS TEXT)", (as_bytes(author),))
        rows = self.execute(f"SELECT author, exercise, result, replaces, run FROM current{where}", values)  # noqa: S608
        return [CurrentResult(*row) for row in rows]

    def results_not_counted(self) -> list[tuple[int, CurrentResult]]:
        """Return the results that do not count because of `never_lower`.

        With this option, a new result does not count if the result that counts has a higher score.

        Returns:
            Pairs such as `(9, row)`: result 9 does not count, and `row.result` is the number of the result of the same
            author and exercise that counts. `row.run` is the run that made result 9.
        """
        rows = self.execute(
            "SELECT results.id, results.author, results.exercise, result, replaces, results.run FROM results"
            " JOIN current USING (author, exercise) JOIN runs ON runs.id = results.run"
            " WHERE results.id > result AND json_extract(options, '$.never_lower')"
        )
        return [(number, CurrentResult(*row)) for number, *row in rows]

    def merge(self, other: Journal, authors: Collection[str] | None = None) -> None:
        """Copy into this journal the results that only another journal has.

        Its records of submissions and people are copied as well.

        Args:
            other: the other journal.
            authors: the authors whose results are copied, or None for everybody's. A result that counts in the other
                journal counts in this one, too. If `authors` is not None, this is so only for exercises without a
                result that counts in this journal.
        """
        owners = [row[0] for row in other.execute("SELECT DISTINCT author FROM results")]
        for author in owners if authors is None else authors:
            known = {_content_key(saved): saved.id for saved in self.saved_results_of(author)}
            for saved in reversed(other.saved_results_of(author)):
                if _content_key(saved) not in known:
                    known[_content_key(saved)] = self.insert_saved(saved)
            mine = set() if authors is None else {row.exercise for row in self.current(author)}
            for one in (one for one in other.current(author) if one.exercise not in mine):
                self.make_current(author, one.exercise, known[_content_key(other.result(one.result))])
        for record in other.submissions():
            if authors is None or record.author in authors:
                self.save_submission(record)
        self._save_people_rows(other.execute("SELECT * FROM people"))
        self.execute_all(SAVE_TRACE, other.execute("SELECT * FROM traces"))


@contextmanager
def open_journal(
    folder: Path, *, new: bool = True, file: str = FILE, wait_s: float = _WAIT_S, known: KnownResults | None = None
) -> Iterator[Journal]:
    """Open the journal in a folder of results, for one process at a time.

    Args:
        folder: the folder of results.
        new: True if a missing journal is made.
        file: the file name of the journal; by default that of the whole class.
        wait_s: the longest wait for another process, in seconds.
        known: results that were read before, and are not read again.

    Raises:
        CourseError: the journal does not exist, or another process has it.
        GraderError: the journal is damaged or of another version, or the disk is full.
    """
    path = folder / file
    if not new and not path.is_file():
        raise CourseError(f"{folder} has no {file}: name the folder that  grade batch --out  wrote")
    try:
        with closing(connect(path, wait_s)) as connection:
            os.chmod(path, 0o600)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            # Nothing is lost when this process is killed; by a power cut nothing of what came before `Journal.sync`.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN EXCLUSIVE")
            if not prepare(connection, _TABLES):
                raise GraderError(f"{path} was written by another version of tensorgrade; grade into a new folder")
            _check_types(connection)
            connection.commit()
            yield Journal(connection, known)
    except sqlite3.Error as error:
        raise _journal_error(path, error) from None
    except OSError as error:  # of any file of the folder
        if error.errno not in _NO_ROOM:
            raise
        raise GraderError(f"{error.filename or folder}: {error.strerror}; {_MAKE_ROOM}") from None


def _check_types(connection: sqlite3.Connection) -> None:
    """Raise an error if a value in a table has another type than this program writes.

    SQLite itself allows any value in any column.

    Raises:
        sqlite3.DatabaseError: a table has such a value.
    """
    for table in ("results", *_OWN_TABLES):
        as_json = {"submissions": ("authors", "array"), "runs": ("options", "object")}.get(table)
        wrong = [f"json_type({as_json[0]}) <> '{as_json[1]}'"] if as_json else []
        for _, column, kind, required, _, is_key in connection.execute(f"PRAGMA table_info({table})").fetchall():
            kinds = f"'{kind.lower()}'" + ("" if required or is_key else ", 'null'")
            wrong.append(f"typeof({column}) NOT IN ({kinds})")
        if connection.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)} LIMIT 1").fetchall():  # noqa: S608
            raise sqlite3.DatabaseError(f"its table {table} has a value of another type than this program writes")


def _journal_error(path: Path, error: sqlite3.Error) -> GraderError:
    text = str(error)
    if "locked" in text:
        return CourseError(
            f"{path.parent} is in use by another  grade batch  or program; wait for that, or name another folder"
        )
    if "full" in text or "disk I/O" in text:
        return GraderError(f"{path}: {text}; {_MAKE_ROOM}")
    return GraderError(f"{path} cannot be used: {text}; restore it from a copy, or grade into a new folder")


@contextmanager
def open_run(
    folder: Path, shard: Shard | None, options: str, root: Path, authors: Sequence[str], handin: str | None = None
) -> Iterator[tuple[Journal, bytes]]:
    """Open the journal for a run, begin the run, and yield the journal and the batch's secret.

    Args:
        folder: the folder of results.
        shard: the part of the class that is graded, or None for all of it.
        options: the options of the run, as JSON.
        root: the folder of all submissions.
        authors: the names of the submissions that are graded.
        handin: the id of the hand-in that is graded, or None.

    Raises:
        CourseError: another process has the journal open.
    """
    with open_journal(folder, file=FILE if shard is None else f"journal-{shard}.sqlite") as journal:
        journal.begin(options, root, handin)
        if shard is None:
            _merge_shards(folder, journal)
            secret = load_or_make_secret(folder / _SECRET_FILE)
        else:
            # It has the whole journal for this moment only, and so have the other shards.
            with open_journal(folder, wait_s=_OTHER_SHARDS_S) as whole:
                journal.merge(whole, authors)
                secret = load_or_make_secret(folder / _SECRET_FILE)
        yield journal, secret


def _merge_shards(folder: Path, whole: Journal) -> None:
    """Merge the journals of all shards into the whole journal, and remove them.

    If this is killed, the next call does the rest: what is in the whole journal is not copied again.
    """
    for file in sorted(path.name for path in folder.iterdir() if _OF_A_SHARD.fullmatch(path.name)):
        with open_journal(folder, file=file) as journal:
            whole.merge(journal)
            whole.sync()
            # While it is locked: whoever opens it now is refused, as the whole journal is locked, too.
            for end in ("", "-wal", "-shm"):
                (folder / f"{file}{end}").unlink(missing_ok=True)


def _content_key(saved: Saved) -> tuple[object, ...]:
    """Return a key of a result's content, equal in all journals that have the result.

    By this key, `Journal.merge` copies only results that a journal lacks. The number of a result is not in it, as each
    journal has its own numbers.
    """
    return saved.exercise, saved.key, saved.at, saved.confinement, to_json(saved.outcomes)
