"""Reports of many CI jobs → one gradebook: the latest of each author; what is no report is told with why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.model.errors import CourseError
from grader.report.schema import ReportFile, read_report

_LARGEST = 50_000_000
_TOLD = ("grader", "torch", "python", "confinement", "device")
"""What may differ from job to job, and make scores that cannot be compared."""


@dataclass(frozen=True)
class Gathered:
    """What was found in a folder.

    Attributes:
        reports: the latest of each author, by author.
        older: files of reports in whose place a later one of the same author counts.
        unread: files that are no reports, each with why.
    """

    reports: tuple[ReportFile, ...]
    older: tuple[Path, ...]
    unread: tuple[tuple[Path, str], ...]


def gather(folder: Path) -> Gathered:
    """Read every report below a folder.

    Raises:
        CourseError: there is no folder, or no report in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder with reports")
    latest: dict[str, tuple[Path, ReportFile]] = {}
    older: list[Path] = []
    unread: list[tuple[Path, str]] = []
    for path in sorted(folder.rglob("*.json")):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            if path.stat().st_size > _LARGEST:
                raise CourseError(f"{path.as_posix()} is no report: it is larger than any")
            report = read_report(path)
        except CourseError as error:
            unread.append((path, "; ".join(error.problems)))
            continue
        before = latest.get(report.author)
        if before is not None and before[1].graded_at > report.graded_at:
            older.append(path)
            continue
        if before is not None:
            older.append(before[0])
        latest[report.author] = path, report
    if not latest:
        raise CourseError(f"{folder} has no report: files are expected that grade ci --json or grade --json wrote")
    return Gathered(tuple(latest[author][1] for author in sorted(latest)), tuple(older), tuple(unread))


def differences(reports: Sequence[ReportFile]) -> Iterator[str]:
    """What not all reports have in common, so that their scores may not be compared."""
    for name in _TOLD:
        found = sorted({str(report.environment.get(name)) for report in reports})
        if len(found) > 1:
            yield f"{name} is not the same in all reports: {', '.join(found)}"
