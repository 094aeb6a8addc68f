"""The pages of a class and of each author, and the zip in which they go back to the platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from grader.batch.class_summary import ClassSummary
from grader.batch.feedback import write_feedback, zip_feedback_pages
from grader.batch.journal import Journal
from grader.batch.results_folder import OVERVIEW, RETURNED, ResultsFolder
from grader.model import Course, FinalScore, Report
from grader.model.score import join_names, pluralize


def write_pages(
    course: Course,
    journal: Journal,
    folder: ResultsFolder,
    on_page: Callable[[int, int], object],
    *,
    names: bool,
    over_term: Mapping[str, FinalScore] | None = None,
) -> tuple[ClassSummary, list[str]]:
    """Write the page of the class and those of all authors.

    Args:
        course: the course of the class.
        journal: the open journal, which has the results and the files of authors.
        folder: the folder of results.
        on_page: a callback after each author's page, with the number of pages that are written, and of all.
        names: True if the pages also have the names of people whom a platform gave numbers.
        over_term: final scores by author, with the grace days of all hand-ins; None if these are not known.

    Returns:
        The summary of the class, and sentences that say where the pages are.

    Raises:
        GraderError: a table of staff cannot be read, or a page cannot be written.
    """
    total, done = len(journal.submissions()), count(1)

    def write_page(report: Report) -> None:
        write_feedback(folder, report, journal)
        on_page(next(done), total)

    overview = ClassSummary(course, journal, folder, write_page, names=names, over_term=over_term)
    path = folder.write_page(OVERVIEW, overview.page())
    people = folder.people(journal.names(), journal.platform())
    pages, unknown = zip_feedback_pages(folder, journal, people)
    sentences = [f"All of it, with everybody's page, is in {path}"]
    sentences.append(f"{pluralize(pages, 'page')} to return are in {folder.path / RETURNED}")
    if unknown:
        sentences.append(f"It has no page for {join_names(unknown)}, who are not on the roster, or handed in no file.")
    if journal.platform() == "moodle" and people.kind != "moodle":
        sentences.append(
            "If teams handed in, the numbers in the zip are not those of people: run grade batch with the worksheet as "
            "--roster before you upload the zip."
        )
    if over_term is None and course.policy.grace_days and len(course.handins) > 1:
        sentences.append(
            "These pages do not know the grace days of other hand-ins, and say so; those of  grade term OUT... --pages"
            "  count them once."
        )
    return overview, sentences
