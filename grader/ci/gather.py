"""Reports of many CI jobs → one gradebook: the latest of each author counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.model.errors import CourseError
from grader.report.gradebook import gradebook_csv
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile, read_report

_COMPARED = ("grader", "torch", "python", "confinement", "device")
"""What may differ from job to job, and make scores that cannot be compared."""


@dataclass(frozen=True)
class Gathered:
    """The reports in a folder.

    Attributes:
        reports: the latest of each author, by author.
        older: files of reports in whose place a later one of the same author counts.
        unread: why a file is not a report, for each such file.
    """

    reports: tuple[ReportFile, ...]
    older: tuple[Path, ...]
    unread: tuple[str, ...]

    @property
    def authors(self) -> int:
        """How many authors the reports have."""
        return sum(len(report.members) for report in self.reports)

    def gradebook(self) -> str:
        """The gradebook, with a column for each exercise of any report."""
        ids = list(dict.fromkeys(exercise.id for report in self.reports for exercise in report.exercises))
        return gradebook_csv(ids, self.reports)

    def lines(self) -> Iterator[str]:
        """What does not count, and what not all reports have in common, so that their scores may not be compared."""
        for path in self.older:
            yield for_terminal(f"not counted, as a later report has the same author: {path.as_posix()}", one_line=True)
        for name in _COMPARED:
            # An author without any file has a report for which no student code was run, and so no confinement.
            values = {str(value) for report in self.reports if (value := report.environment.get(name)) is not None}
            if len(values) > 1:
                yield f"{name} is not the same in all reports: {', '.join(sorted(values))}"
        yield from (f"not read: {for_terminal(why, one_line=True)}" for why in self.unread)


def gather(folder: Path) -> Gathered:
    """Read every report below a folder.

    Raises:
        CourseError: there is no folder, or no report in it, or the reports are of several courses.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder with reports")
    of_author: dict[str, list[tuple[ReportFile, Path]]] = {}
    unread: list[str] = []
    for path in sorted(path for path in folder.rglob("*.json") if path.is_file() and not path.is_symlink()):
        try:
            report = read_report(path)
            of_author.setdefault(report.author, []).append((report, path))
        except CourseError as error:
            unread.append("; ".join(error.problems))
    if not of_author:
        raise CourseError(f"{folder} has no report; expected files that grade ci --json or grade --json wrote")
    inorder = [sorted(of_author[author], key=lambda one: one[0].graded_at) for author in sorted(of_author)]
    courses = sorted({report.course for own in inorder for report, _ in own})
    if len(courses) > 1:
        names = ", ".join(courses)
        raise CourseError(f"{folder} has reports of several courses ({names}); put those of each into its own folder")
    older = tuple(path for own in inorder for _, path in own[:-1])
    return Gathered(tuple(own[-1][0] for own in inorder), older, tuple(unread))
