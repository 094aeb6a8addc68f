"""What goes back to a platform and to students: the gradebook, scores in a platform's own file, everybody's pages."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from nicegui import events, ui

from grader.batch.results_folder import GRADEBOOK, RETURNED
from grader.batch.term import column_of, read_scores
from grader.model.errors import CourseError, GraderError
from grader.report.csv_table import CsvTable
from grader.report.export.lms import fill_columns, moodle_upload_notes
from grader.report.people import people_in
from grader.report.safe import for_html
from grader.web import look
from grader.web.class_data import ClassFolder, Snapshot
from grader.web.page_words import in_page_words

_MOST_BYTES = 16 << 20
_REFRESH_S = 0.5
_STATUS = 'role="status" aria-live="polite"'


def show_results(folder: ClassFolder, now: Snapshot) -> None:
    """Build the page from which staff download results.

    These are the gradebook, a platform's file with scores, and the pages of the authors.

    Args:
        folder: the folder of the class.
        now: the class as it is.
    """
    look.heading("Return scores and pages", 1)
    if late := list(folder.newer_than_gradebook(now.course)):
        names = for_html(", ".join(late))
        look.html(
            f"<p>{names}: changed after the gradebook was written, so that the scores below are those before. "
            '<a href="again">Grade again</a> first.</p>'
        ).classes("warn")
    _show_gradebook(folder)
    _show_platform(folder, now)
    _show_pages(folder)


def _show_gradebook(folder: ClassFolder) -> None:
    with ui.element("section").classes("card"):
        look.heading("The gradebook")
        path = folder.results.path / GRADEBOOK
        if not path.is_file():
            look.html('<p>It is not written yet: <a href="again">Grade again</a> writes it.</p>')
            return
        look.html(f"<p>Everybody with the points of each exercise and the final score: {for_html(str(path))}</p>")
        look.button(f"Download {GRADEBOOK}", lambda: ui.download.content(path.read_bytes(), GRADEBOOK))


# -- a platform's own file


def _show_platform(folder: ClassFolder, now: Snapshot) -> None:
    """Show the form that puts scores into a table downloaded from Canvas or Moodle."""
    handin = now.rules.handin
    with ui.element("section").classes("card").style("margin-top:1rem"):
        look.heading("Scores for Canvas or Moodle")
        look.html(
            "<p>Choose the file that you downloaded there: Canvas's gradebook (Grades, Export), or the grading "
            "worksheet of the Moodle assignment. You get it back with the scores in it, to upload there. Nothing else "
            "in it changes.</p>"
        )
        with ui.element("div").classes("in-line"):
            column = ui.input("Title of the column", value=handin.column if handin is not None else "")
            column.props("outlined dense").style("min-width:min(16rem,100%)")
            scales = ui.checkbox("Scale to the points that it has there")
            zeros = ui.checkbox("0 for everybody who handed in nothing")

        async def fill_in(event: events.UploadEventArguments) -> None:
            """Put the scores into the uploaded table, and let the browser download the result."""
            name, content = event.file.name, await event.file.read()
            upload.reset()
            title = str(column.value or "").strip()
            try:
                made, lines = await asyncio.to_thread(
                    fill_scores,
                    folder.results.path,
                    name,
                    content,
                    title,
                    scales=bool(scales.value),
                    zeros=bool(zeros.value),
                )
            except GraderError as error:
                said.content = f'<div class="warn">{for_html(str(error))}</div>'
                return
            said.content = "".join(f"<p>{for_html(line)}</p>" for line in lines)
            ui.download.content(made, name)

        def refuse() -> None:
            said.content = f'<div class="warn">Choose a CSV file of at most {_MOST_BYTES >> 20} MiB.</div>'

        # NiceGUI's own box has buttons without names: one with words opens the browser's dialog.
        upload = ui.upload(auto_upload=True, max_file_size=_MOST_BYTES, on_upload=fill_in, on_rejected=refuse)
        upload.props('accept=".csv,text/csv"').style("display:none")
        choose = look.button("Choose the file", None, first=True)
        choose.on("click", js_handler=f"() => runMethod({upload.id}, 'pickFiles', [])")
        said = look.html("").props(_STATUS).style("width:100%")


def fill_scores(
    out: Path, name: str, content: bytes, title: str, *, scales: bool, zeros: bool
) -> tuple[bytes, list[str]]:
    """Fill the scores of a hand-in into a file of Canvas or Moodle.

    Args:
        out: the folder of results.
        name: the name of the file, for messages.
        content: the content of the file, as it was downloaded from the platform.
        title: the title of the column for the scores, in Canvas's gradebook.
        scales: True to scale scores where the platform has another number of points.
        zeros: True to fill in 0 for people without a submission.

    Returns:
        The new content of the file, and sentences on what was filled in.

    Raises:
        GraderError: the scores or the file cannot be read, or the file belongs to another assignment.
    """
    marks = read_scores(out)
    with tempfile.TemporaryDirectory(prefix="grade-web-") as place:
        path = Path(place, "table.csv")
        path.write_bytes(content)
        try:
            table, kind = CsvTable(path), people_in(path).kind
            if kind == "plain":
                raise CourseError(f"{name} is neither Canvas's gradebook nor a grading worksheet of Moodle")
            done = fill_columns(
                table, kind, [column_of(marks, "" if kind == "moodle" else title)], scales=scales, zeros=zeros
            )
        except CourseError as error:
            problems = (in_page_words(problem.replace(str(path), name)) for problem in error.problems)
            raise CourseError(*problems) from None
    lines = [*done.lines(name, {}, zeros=zeros), *(moodle_upload_notes(done) if kind == "moodle" else ())]
    return table.content(), [in_page_words(line) for line in lines]


# -- pages


def _show_pages(folder: ClassFolder) -> None:
    """Show the buttons that write everybody's page and download all as a zip."""
    with ui.element("section").classes("card").style("margin-top:1rem"):
        look.heading("Everybody's page")
        look.html(
            "<p>A page for each author, with their lines and your comments, and a zip of them for the bulk upload of "
            "Moodle or Canvas.</p>"
        )

        def show() -> None:
            write.set_visibility(not folder.pages.is_running)
            said.content = "".join(_pages_html(folder))
            has_zip = (folder.results.path / RETURNED).is_file()
            download.set_visibility(has_zip and not folder.pages.is_running)
            if not folder.pages.is_running:
                timer.deactivate()

        def begin() -> None:
            folder.write_pages()
            timer.activate()
            show()

        with ui.element("div").classes("in-line"):
            write = look.button("Write the pages", begin, first=True)
            download = look.button(f"Download {RETURNED}", _download_function(folder.results.path / RETURNED))
        said = look.html("").props(_STATUS).style("width:100%")
        timer = ui.timer(_REFRESH_S, show, active=folder.pages.is_running)
        show()


def _download_function(path: Path) -> Callable[[], None]:
    return lambda: ui.download.content(path.read_bytes(), path.name)


def _pages_html(folder: ClassFolder) -> Iterator[str]:
    pages = folder.pages
    if pages.is_running:
        share = 100 * pages.done // max(1, pages.total)
        yield f"<p><b>{pages.done} of {pages.total} pages</b></p>"
        yield f'<div class="bar" aria-hidden="true"><div style="width:{share}%"></div></div>'
    if pages.problem:
        yield f'<div class="warn">{for_html(pages.problem)}</div>'
    yield from (f"<p>{for_html(in_page_words(line))}</p>" for line in pages.lines)
