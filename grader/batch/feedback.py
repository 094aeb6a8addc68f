"""The page that an author gets back, with their own lines; and the zip by which a platform returns them."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import PurePosixPath

from grader.batch.book import RETURNED, Out, page_of
from grader.batch.journal import Journal
from grader.course.layout import NOTEBOOK
from grader.intake.match import place_in
from grader.model import GradedExercise, Report
from grader.model.score import Causes
from grader.report.export.items import Options
from grader.report.export.job import markdown
from grader.report.html import CodeLine, page
from grader.report.schema import ReportFile, line_of

_AROUND = 6
_MOST_LINES = 16


def write_feedback(place: Out, report: Report, journal: Journal) -> None:
    """Write the page of an author, with those of their lines that the cause of the lost points is about; and as text.

    Raises:
        CourseError: it cannot be written.
    """
    graded = {one.exercise.id: one for one in report.exercises}
    modules = journal.modules("author", report.author)
    lines = {id: own_lines(graded[id], path, text) for _, id, path, text in modules if id in graded}
    place.write_page(page_of(report.author), page(report, lines))
    place.write_page(page_of(report.author, "md"), markdown(ReportFile.of(report), Options()))


def own_lines(graded: GradedExercise, path: str, text: bytes) -> tuple[CodeLine, ...]:
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


def return_pages(place: Out, journal: Journal) -> tuple[int, list[str]]:
    """Zip the pages for the bulk upload of the platform from which the submissions came.

    Moodle takes "Upload multiple feedback files in a zip": a folder `Participant_<id>_assignsubmission_file_` for each
    author, found by the number. Canvas takes "Upload submissions": files whose names have the numbers of the user and
    of a file that was handed in; it shows the page under the name of that file. Without a platform all pages lie beside
    each other, also as Markdown.

    Returns:
        of how many authors there is a page, and whose pages no platform gives back by this zip.

    Raises:
        CourseError: it cannot be written.
    """
    starts, count, unknown = journal.returned(), 0, []
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for noted in journal.submissions():
            page, text = (place.path / page_of(noted.author, end) for end in ("html", "md"))
            names = {page.name: page, text.name: text}
            if starts:
                start = starts.get(noted.author, "")
                names = {f"{start.replace(noted.author, one)}feedback.html": page for one in noted.members if start}
            if not page.is_file():
                continue
            for name, path in names.items():
                archive.write(path, name)
            count += bool(names)
            unknown += [] if names else [noted.author]
    place.write_page(RETURNED, target.getvalue())
    return count, unknown
