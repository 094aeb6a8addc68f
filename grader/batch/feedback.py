"""Pages of feedback: one for each author, with their own lines, and a zip of them for the platform."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from grader.batch.journal import MOODLES, Journal, SubmissionRecord
from grader.batch.results_folder import RETURNED, ResultsFolder, author_page
from grader.course.layout import NOTEBOOK
from grader.intake.match import module_place
from grader.model import GradedCheck, GradedExercise, Report
from grader.model.files import replacing_file
from grader.model.score import Causes
from grader.report.export.formats import Options, markdown
from grader.report.html import CodeLine, page
from grader.report.people import People
from grader.report.schema import ReportFile
from grader.report.student_line import line_of
from grader.report.words import rows_in_full

_AROUND, MOST_LINES = 6, 16


def write_feedback(results: ResultsFolder, report: Report, journal: Journal) -> None:
    """Write the page of an author, as HTML and as Markdown.

    The page shows the functions that lost points.

    Args:
        results: the folder of results.
        report: the report of the author.
        journal: the journal of the batch, which has the author's modules.

    Raises:
        CourseError: it cannot be written.
    """
    graded = {one.exercise.id: one for one in report.exercises}
    modules = journal.modules("author", report.author)
    lines = {
        (id, row.check.id): failing_function_lines(graded[id], path, text, row)
        for _, id, path, text in modules
        if id in graded
        for row in rows_in_full(graded[id])
    }
    results.write_page(author_page(report.author), page(report, lines))
    results.write_page(author_page(report.author, "md"), markdown(ReportFile.of(report), Options()))


def failing_function_lines(
    graded: GradedExercise, path: str, text: bytes, row: GradedCheck | None = None
) -> tuple[CodeLine, ...]:
    """Return the lines of the function that a failing check is about.

    `(3, "    return y", True)` is line 3, in which an exception was raised. A docstring is left out, and at most 16
    lines are returned. The result is empty if the check names no line.

    Args:
        graded: the exercise.
        path: the path of the file.
        text: the text of the file.
        row: the failing check; by default the check that is to be fixed first.
    """
    cause = row or Causes.of(graded.checks).cause
    # The lines of a notebook's module are not those that its author sees: they have no numbers.
    numbered = PurePosixPath(path).suffix != NOTEBOOK
    place = module_place(text, graded.exercise.file_name if numbered else path)
    if cause is None or (number := line_of(cause, replace(graded, place=place))) is None:
        return ()
    lines = text.decode("utf-8", "replace").splitlines()
    first = max((line for line in place.names.values() if line <= number), default=number)
    last = next((at for at in range(first, len(lines)) if lines[at][:1] not in ("", " ", "\t", ")", "#")), len(lines))
    if number > last:  # below the function
        first = last = number
    while last > first and not lines[last - 1].strip():
        last -= 1
    raised = number not in place.names.values()
    # A docstring is longer than many a function, and says what the task says.
    left_out = _docstring_lines(lines, first, last)
    shown = [line for line in range(first, last + 1) if line not in left_out or (raised and line == number)]
    if len(shown) > MOST_LINES:
        begin = max(0, shown.index(number) - _AROUND) if raised else 0
        shown = shown[begin : begin + MOST_LINES]
    return tuple((line if numbered else None, lines[line - 1], raised and line == number) for line in shown)


_TRIPLE = re.compile(r'\s*[rRuU]?("""|\'\'\')')


def _docstring_lines(lines: Sequence[str], first: int, last: int) -> range:
    """Return the line numbers of a function's docstring; an empty range if it has none.

    For a function in lines 1 to 5 with a docstring in lines 2 to 4, it is `range(2, 5)`. The text is searched and not
    parsed: a file that is not Python has an excerpt as well.

    Args:
        lines: the lines of the file.
        first: the number of the line that defines the function.
        last: the number of its last line.
    """
    heads = (number for number in range(first, last + 1) if lines[number - 1].split("#")[0].rstrip().endswith(":"))
    head = next(heads, last)
    for number in range(head + 1, last + 1):
        if mark := _TRIPLE.match(lines[number - 1]):
            rest = lines[number - 1][mark.end() :]
            if mark[1] in rest:
                return range(number, number + 1)
            ends = (end for end in range(number + 1, last + 1) if mark[1] in lines[end - 1])
            return range(number, next(ends, number) + 1)
        if lines[number - 1].strip():
            break
    return range(0)


def zip_feedback_pages(results: ResultsFolder, journal: Journal, people: People) -> tuple[int, list[str]]:
    """Write a zip of the authors' pages for the bulk upload of a platform.

    The platform is the one from which the submissions came. It finds the author of a page by the page's name.

    For Moodle ("Upload multiple feedback files in a zip"), the page of author 17 is
    `Participant_17_assignsubmission_file_/feedback.html`. Each member of a team has a page, with the member's own
    number.

    For Canvas ("Upload submissions"), it is `user_17_2045_feedback.html`, in which 2045 is the number of a file that
    was handed in. Canvas shows the page under the name of that file, to the whole group of the user.

    Without a platform, the pages of author `ada` are `ada.html` and `ada.md`.

    Args:
        results: the folder of results.
        journal: the journal of the batch.
        people: the people on the roster. If it is a worksheet of Moodle, nobody gets a page whose number is not in it:
            the number may be a team's, which another participant has.

    Returns:
        The number of authors with a page in the zip, and the authors whose pages the platform would not accept.

    Raises:
        CourseError: it cannot be written.
    """
    starts, count, unknown = journal.upload_prefixes(), 0, []
    target = results.path / RETURNED
    with replacing_file(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for record in journal.submissions():
            page, text = (results.path / author_page(record.author, end) for end in ("html", "md"))
            names = {page.name: page, text.name: text}
            if starts:
                names = {f"{start}feedback.html": page for start in _upload_prefixes(record, starts, people)}
            if not page.is_file():
                continue
            for name, path in names.items():
                # A name on this machine need not be text, and a name in a zip must.
                archive.write(path, os.fsencode(name).decode("utf-8", "backslashreplace"))
            count += bool(names)
            unknown += [] if names else [record.author]
    return count, unknown


def _upload_prefixes(record: SubmissionRecord, starts: Mapping[str, str], people: People) -> Iterator[str]:
    """Yield the prefixes of file names under which the platform accepts an author's page.

    For author 17 on Moodle it is "Participant_17_assignsubmission_file_/". A team on Moodle has a prefix for each
    member, with the member's number.

    Args:
        record: the author's submission.
        starts: the prefixes from the platform's download, by author.
        people: the people on the roster.
    """
    start = starts.get(record.author, "")
    if not start and people.kind == "moodle":  # the default group has no number, and its members have
        start = f"{MOODLES}{record.author}_assignsubmission_file_/"
    if not start.startswith(MOODLES):
        yield from [start] if start else []
        return
    for member in record.members:
        own = f"{MOODLES}{member}_"
        if member.isdecimal() and (people.kind != "moodle" or people.person_of(member)):
            yield start.replace(f"{MOODLES}{record.author}_", own, 1)
