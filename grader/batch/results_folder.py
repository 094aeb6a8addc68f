"""The folder that `grade batch` writes into."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from grader.batch.comments import COMMENTS, read_comments
from grader.batch.journal import Journal, SubmissionRecord, open_journal
from grader.batch.known_results import KnownResults
from grader.batch.overrides import OVERRIDES, read_overrides
from grader.batch.policy import Rules
from grader.batch.reports import reports
from grader.grading.plan import RunPlan
from grader.intake.contents import NOTE_KINDS, Unmatched
from grader.model import Course, Report
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole
from grader.report.csv_table import CsvTable
from grader.report.gradebook import gradebook_csv
from grader.report.names import fold_name
from grader.report.people import NOBODY, People, absent_people, people_in
from grader.report.safe import csv_text, for_csv
from grader.report.schema import ReportFile, report_json

REPORTS = "reports"
ROSTER = "roster.csv"
"""The copy of the last roster."""
GRADEBOOK = "gradebook.csv"
UNMATCHED = "unmatched.csv"
_NOTES = "notes.csv"
_FEEDBACK = "feedback"
SIMILAR = "similar.html"
RETURNED = "feedback.zip"
OVERVIEW = "report.html"
_ALL = "all that was handed in"
_LONGEST_NAME = 200
_SHORTENED = 40


class ResultsFolder:
    """A folder of results: the one place that names the files in it, opens them and writes them.

    Args:
        path: the path of the folder, which `grade batch --out` has made, see `make`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, path: Path) -> Self:
        """Make the folder with mode 0700, unless it is there, and return it.

        Args:
            path: the path of the folder.

        Raises:
            CourseError: it cannot be made, or nothing can be written into it.
        """
        with failing_as(f"--out: {path} cannot be made", "name another folder"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            (path / REPORTS).mkdir(exist_ok=True)
            # One that was there before may be open to others; only its owner can close it.
            if os.name == "posix" and path.stat().st_uid == os.geteuid():
                path.chmod(0o700)
        if not os.access(path, os.W_OK | os.X_OK):
            raise CourseError(f"--out: nothing can be written into {path}; name another folder")
        return cls(path)

    def journal(self, known: KnownResults | None = None) -> AbstractContextManager[Journal]:
        """Open the journal that a batch has written here; see `open_journal`."""
        return open_journal(self.path, new=False, known=known)

    def people(self, names: Mapping[str, str], platform: str = "") -> People:
        """Read the people on the roster; return `NOBODY` if there is no roster.

        Args:
            names: the names of people, by the numbers that their submissions have.
            platform: the platform that gave these numbers; "" if unknown.

        Raises:
            CourseError: the roster cannot be read.
        """
        path = self.path / ROSTER
        return people_in(path, names, platform) if path.is_file() else NOBODY

    def rules(self, course: Course, journal: Journal, handin: str | None) -> Rules:
        """Read the overrides, the comments and the roster; return them as `Rules`.

        Args:
            course: the course, which has the policy.
            journal: the journal, which has the names of people and the platform that gave them numbers.
            handin: the hand-in that was graded, or None.

        Raises:
            CourseError: one of these tables cannot be read; it lists every problem.
        """
        people = self.people(journal.names(), journal.platform())
        overrides = read_overrides(self.path / OVERRIDES, course)
        comments = read_comments(self.path / COMMENTS, course)
        return Rules(course, course.handin(handin), overrides, people, comments=comments)

    def finished_reports(self) -> list[Path]:
        """Return the paths of all reports of a batch that has ended.

        Raises:
            CourseError: there is no gradebook, or a table of staff's is newer than it.
        """
        book, places = self.path / GRADEBOOK, sorted((self.path / REPORTS).glob("*.json"))
        if not (book.is_file() and places):
            raise CourseError(
                f"{self.path} has no {GRADEBOOK}: name a folder that  grade batch --out  wrote; if a batch is still "
                "running, wait until it ends"
            )
        written = book.stat().st_mtime_ns
        inputs = [path for path in (self.path / OVERRIDES, self.path / ROSTER) if path.is_file()]
        if changed := [path for path in inputs if path.stat().st_mtime_ns > written]:
            raise CourseError(
                f"{changed[0]} is newer than the gradebook: run the same  grade batch  again; it rewrites the "
                "gradebook and grades nothing anew"
            )
        return places

    def has_unmatched(self) -> bool:
        """Return whether something that was handed in belongs to no exercise or no author."""
        return (self.path / UNMATCHED).is_file()

    def write_report(self, report: Report, *, staff: bool) -> None:
        """Write a report, unless its file is up to date.

        The gradebook is removed before that, as it would contradict the new report.

        Args:
            report: the report.
            staff: True if the file has the details of hidden checks, for staff.
        """
        path = self.path / REPORTS / f"{file_name(report.author)}.json"
        text = report_json(report, staff=staff, indent=None)
        if path.is_file() and path.read_bytes() == text:
            return
        (self.path / GRADEBOOK).unlink(missing_ok=True)
        write_whole(path, text)

    def remove_report(self, author: str) -> None:
        """Remove the report and the pages of an author, if there are any."""
        for name in (f"{REPORTS}/{file_name(author)}.json", author_page(author), author_page(author, "md")):
            (self.path / name).unlink(missing_ok=True)

    def write_gradebook(
        self, plan: RunPlan, journal: Journal, rules: Rules, unmatched: Sequence[Unmatched], *, names: bool = False
    ) -> None:
        """Write the gradebook and the table of notes.

        The gradebook also has a row for everybody on the roster who handed in nothing.

        Args:
            plan: the plan: what is graded.
            journal: the journal of the batch.
            rules: overrides, people and deadlines.
            unmatched: files that belong to no exercise or no author; those with an author become notes.
            names: True if both tables also have the names of people to whom a platform gave numbers.
        """
        notes: list[tuple[str, ...]] = []

        def written() -> Iterator[ReportFile]:
            for report in reports(plan, journal, rules):
                notes.extend(_note_rows(report))
                yield ReportFile.of(report)

        authors = [name for record in journal.submissions() for name in record.members]
        absent = [person.author for person in absent_people(rules.people, authors)]
        possible, ids = sum(one.points for one in plan.exercises), [one.id for one in plan.exercises]
        people = journal.names() if names else None
        text = gradebook_csv(ids, written(), absent, possible=possible, names=people)
        write_whole(self.path / GRADEBOOK, text)
        notes += [(row.author, "", "not read", f"{row.file or _ALL}: {row.why}") for row in unmatched if row.author]
        self._write_rows(_NOTES, ("author", "exercise", "kind", "note"), sorted(notes), people)

    def save_roster(self, file: Path) -> None:
        """Copy a roster, so that later runs and commands know it.

        Raises:
            CourseError: it cannot be read.
        """
        people_in(file)
        place = self.path / ROSTER
        if not (place.exists() and file.samefile(place)):
            write_whole(place, file.read_bytes())

    def write_page(self, file: str, text: str | bytes) -> Path:
        """Write a page of the class or of an author; return its path.

        Raises:
            CourseError: it cannot be written.
        """
        path = self.path / file
        with failing_as(f"{path} cannot be written", "remove what is in its place"):
            path.parent.mkdir(exist_ok=True)
            write_whole(path, text)
        return path

    def write_unmatched(self, rows: Sequence[Unmatched], names: Mapping[str, str] | None = None) -> None:
        """Write the table of files that belong to no exercise or no author.

        Without rows, the table is removed.

        Args:
            rows: the rows of the table. Each names a file, or says that it is about all that was handed in.
            names: the names of people, by the number in the column of authors; with them, the last column has names.
        """
        head, cells = ("file", "author", "why"), [(row.file or _ALL, row.author, row.why) for row in rows]
        self._write_rows(UNMATCHED, head, cells, names)

    def _write_rows(
        self, name: str, head: Sequence[str], rows: Sequence[Sequence[str]], names: Mapping[str, str] | None = None
    ) -> None:
        """Write a table; without any row, remove its file."""
        if names is not None:
            at = head.index("author")
            head, rows = (*head, "name"), [(*row, names.get(row[at], "")) for row in rows]
        if not rows:
            (self.path / name).unlink(missing_ok=True)
            return
        write_whole(self.path / name, csv_text([for_csv(cell) for cell in row] for row in (head, *rows)))

    def forget(self, record: SubmissionRecord, rules: Rules) -> None:
        """Remove the files and rows of a submission.

        The pages of the class are removed, too; they are written again on demand.

        Raises:
            CourseError: a table cannot be read.
        """
        self.remove_report(record.author)
        for name in (OVERVIEW, SIMILAR, RETURNED):
            (self.path / name).unlink(missing_ok=True)
        meant = rules.names(record)
        for name in (UNMATCHED, _NOTES, GRADEBOOK, OVERRIDES, COMMENTS, ROSTER):
            path = self.path / name
            if path.is_file():
                table, gone = CsvTable(path), [person.row for person in rules.persons(record)]
                if name != ROSTER:
                    place = table.header.index("author")
                    gone = [row for row in range(1, len(table.rows)) if fold_name(table.cell(row, place)) in meant]
                table.remove(gone)
                write_whole(path, table.content())


def _note_rows(report: Report) -> Iterator[tuple[str, ...]]:
    for graded in report.exercises:
        for note in graded.notes:
            kind = next((kind for start, kind in NOTE_KINDS.items() if note.startswith(start)), "other")
            yield report.author, graded.exercise.id, kind, note


def author_page(author: str, end: str = "html") -> str:
    """Return the path of an author's page in the folder of results: `feedback/ada.html`.

    Args:
        author: the author.
        end: the suffix: "html", or "md" for Markdown.
    """
    return f"{_FEEDBACK}/{file_name(author)}.{end}"


def file_name(author: str) -> str:
    """Return a file name for an author, without a suffix.

    It is the author's name, if a file can have it. Otherwise, it is the beginning of the name and a digest: `a/b`
    becomes `a_b-c14cddc033f64b9d`.
    """
    plain = "".join("_" if char in '/\\\0:*?"<>|' else char for char in author)
    if plain == author and len(os.fsencode(author)) <= _LONGEST_NAME and author[:1] not in (".", ""):
        return author
    return f"{plain.lstrip('.')[:_SHORTENED]}-{hashlib.sha256(os.fsencode(author)).hexdigest()[:16]}"
