"""A graded class as the pages of staff need it, and the overrides that they write.

The journal is read again when it or `overrides.csv` changed. An override is appended only to the file that the page has
seen: two people at work never overwrite each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.batch.class_summary import ClassSummary
from grader.batch.journal import FILE
from grader.batch.overrides import OVERRIDES, Override, read_overrides
from grader.batch.reports import report_of
from grader.batch.results_folder import ResultsFolder
from grader.course.files import validated
from grader.grading.plan import RunPlan
from grader.grading.unexplained import Group
from grader.model import Course, Report
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole
from grader.model.messages import Setup, Start
from grader.report.safe import csv_text

_HEADER = ("author", "exercise", "check", "points", "why")


@dataclass(frozen=True)
class Snapshot:
    """A class as it was read.

    Attributes:
        overview: its rows and groups.
        reports: of all authors, by the name of the report.
        files: by author and exercise, the path and the text of the module.
        version: of what it was read from.
    """

    overview: ClassSummary
    reports: dict[str, Report]
    files: dict[tuple[str, str], tuple[str, bytes]]
    version: str

    def members(self, group: Group) -> list[str]:
        """Return the authors of a group, those with the shortest files first."""
        key = group.exercise.id
        return sorted(group.members, key=lambda author: (len(self.files.get((author, key), ("", b""))[1]), author))


@dataclass
class ClassFolder:
    """The folder that `grade batch` wrote.

    Attributes:
        course: of the class.
        out: the folder.
    """

    course: Course
    out: Path
    _last: Snapshot | None = None

    def version(self) -> str:
        """Return what changes when the journal or the overrides do."""
        marks = []
        for name in (FILE, f"{FILE}-wal"):
            path = self.out / name
            marks.append(str(path.stat().st_mtime_ns) if path.exists() else "")
        return hashlib.sha256("/".join([*marks, self.overrides_digest()]).encode()).hexdigest()[:16]

    def overrides_digest(self) -> str:
        """Return a digest of `overrides.csv`; that of nothing where there is no such file."""
        path = self.out / OVERRIDES
        return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()

    def read(self) -> Snapshot:
        """Return the class as it is now.

        Raises:
            GraderError: the journal or the overrides cannot be read.
        """
        version = self.version()
        if self._last is None or self._last.version != version:
            reports: dict[str, Report] = {}
            files: dict[tuple[str, str], tuple[str, bytes]] = {}
            with ResultsFolder(self.out).journal() as journal:
                folder = ResultsFolder(self.out)
                overview = ClassSummary(self.course, journal, folder, lambda one: reports.update({one.author: one}))
                for exercise in self.course.exercises:
                    for author, _, path, text in journal.modules("exercise", exercise.id):
                        files[author, exercise.id] = path, text
            self._last = Snapshot(overview, reports, files, version)
        return self._last

    def after(self, author: str, row: Override) -> Report | None:
        """Return an author's report as it would be with one more override; nothing is written.

        Raises:
            CourseError: the override does not fit.
        """
        with ResultsFolder(self.out).journal() as journal:
            rules = ResultsFolder(self.out).rules(self.course, journal, journal.handin())
            plan = RunPlan(self.course, self.course.exercises, Setup(Start.FORK), journal.handin())
            noted = next(one for one in journal.submissions() if one.author == author)
            plain = report_of(plan, journal, noted, replace(rules, overrides=()))
            if plain is None:
                return None
            if problem := row.problem(plain):
                raise CourseError(problem)
            others = [one for one in rules.overrides if not _same(one, row)]
            overrides = sorted([*others, row], key=lambda one: not one.check)
            return report_of(plan, journal, noted, replace(rules, overrides=overrides))

    def override(self, author: str, exercise: str, check: str, points: str, why: str) -> Override:
        """Return the override that a form has.

        Args:
            author: whose points change.
            exercise: its id.
            check: its id.
            points: as they were typed.
            why: the reason, as it was typed.

        Raises:
            CourseError: a field is wrong.
        """
        fields = {"author": author, "exercise": exercise, "check": check, "points": points.strip().replace(",", ".")}
        return validated({**fields, "why": why.strip(), "line": 0}, "this form", Override)

    def save(self, row: Override, author: str, seen: str) -> None:
        """Write an override; one about the same is replaced.

        Args:
            row: the override.
            author: as the file is to name them.
            seen: the digest of the file when the page was made.

        Raises:
            CourseError: the file has changed since, or cannot be written.
        """
        if self.overrides_digest() != seen:
            raise CourseError(
                f"{OVERRIDES} was changed since this page was opened; nothing was saved. "
                "Look at the new state, then save again"
            )
        others = [one for one in read_overrides(self.out / OVERRIDES, self.course) if not _same(one, row)]
        rows: Sequence[tuple[str, ...]] = [
            *((one.author, one.exercise, one.check, f"{one.worth / 100:g}", one.why) for one in others),
            (author, row.exercise, row.check, f"{row.worth / 100:g}", row.why),
        ]
        with failing_as(f"{self.out / OVERRIDES} cannot be written"):
            write_whole(self.out / OVERRIDES, csv_text([_HEADER, *rows]))


def _same(one: Override, other: Override) -> bool:
    return (one.author, one.exercise, one.check) == (other.author, other.exercise, other.check)
