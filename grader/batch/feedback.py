"""The page that an author gets back, with their own lines; and the zip by which a platform returns them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from grader.batch.book import file_name
from grader.batch.journal import Journal
from grader.course.layout import NOTEBOOK
from grader.intake.match import place_in
from grader.model import GradedExercise, Report
from grader.model.files import ANOTHER_PLACE, DRAFT, failing_as
from grader.model.score import Causes
from grader.report.export.items import Options
from grader.report.export.job import markdown
from grader.report.html import CodeLine, page
from grader.report.schema import ReportFile, line_of

_AROUND = 6
_MOST_LINES = 16


def feedback_page(report: Report, journal: Journal) -> str:
    """The page of an author, with those of their lines that the cause of the lost points is about."""
    graded = {one.exercise.id: one for one in report.exercises}
    modules = journal.modules("author", report.author)
    return page(report, {id: _own_lines(graded[id], path, text) for _, id, path, text in modules if id in graded})


def _own_lines(graded: GradedExercise, path: str, text: bytes) -> tuple[CodeLine, ...]:
    """The function that the first failing check is about, with the line that raised; nothing if no line is known."""
    cause = Causes.of(graded.checks).cause
    # The lines of a notebook's module are not those that its author sees: they have no numbers.
    numbered = PurePosixPath(path).suffix != NOTEBOOK
    place = place_in(text, graded.exercise.file_name if numbered else path)
    if cause is None or (number := line_of(cause, replace(graded, place=place))) is None:
        return ()
    lines = text.decode("utf-8", "replace").splitlines()
    first = max((line for line in place.names.values() if line <= number), default=number)
    last = next((at for at in range(first, len(lines)) if lines[at][:1] not in ("", " ", "\t", ")", "#")), len(lines))
    if number > last:  # below the function
        first = last = number
    if last - first >= _MOST_LINES:
        first = max(first, number - _AROUND)
        last = min(last, first + _MOST_LINES - 1)
    while last > first and not lines[last - 1].strip():
        last -= 1
    raised = number not in place.names.values()
    return tuple(
        (line if numbered else None, lines[line - 1], raised and line == number) for line in range(first, last + 1)
    )


@dataclass
class Returned:
    """A zip of pages to return, as it is written.

    Attributes:
        count: how many pages are in it.
        unknown: whose pages no platform gives back by this zip.
    """

    archive: zipfile.ZipFile
    names: dict[str, str]
    count: int = 0
    unknown: list[str] = field(default_factory=list)

    def add(self, report: Report, text: str) -> None:
        """Put a page where the platform looks for it, for each member of a team; without a platform beside the others.

        There the same stands beside it as Markdown, for platforms that return texts.
        """
        author = report.author
        if not self.names:
            self.archive.writestr(f"{file_name(author)}.html", text)
            self.archive.writestr(f"{file_name(author)}.md", markdown(ReportFile.of(report), Options()))
        elif start := self.names.get(author):
            for member in report.authors or (author,):
                self.archive.writestr(f"{start.replace(author, member)}feedback.html", text)
        else:
            self.unknown.append(author)
            return
        self.count += 1


@contextmanager
def open_returned(path: Path, journal: Journal) -> Iterator[Returned]:
    """A zip of pages for the bulk upload of the platform from which the submissions came; whole or not at all.

    Moodle takes "Upload multiple feedback files in a zip": a folder `Participant_<id>_assignsubmission_file_` for each
    author, found by the number. Canvas takes "Upload submissions": files whose names have the numbers of the user and
    of a file that was handed in; it shows the page under the name of that file.

    Raises:
        CourseError: it cannot be written.
    """
    draft = path.with_name(f"{path.name}{DRAFT}")
    with failing_as(f"{path} cannot be written", ANOTHER_PLACE):
        try:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
                yield Returned(archive, journal.returned())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
