"""The journal as reports: what counts of each author, with the points that it has by the course as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.batch.journal import Entry, Journal
from grader.grading.grade import Sheet
from grader.grading.graded import from_told
from grader.model import Report
from grader.runner.machine import describe_machine
from grader.sandbox.levels import Level


def report_of(sheet: Sheet, journal: Journal, author: str, authors: tuple[str, ...], digest: str) -> Report | None:
    """The report of a submission, with those exercises of the sheet that were ever graded; None if none was."""
    entries = {seat.exercise: journal.entry(seat.outcome) for seat in journal.seats(author)}
    asked = [(exercise, entries[exercise.id]) for exercise in sheet.exercises if exercise.id in entries]
    if not asked:
        return None
    return Report(
        course=sheet.course.title,
        handin=sheet.handin,
        author=author,
        digest=digest,
        graded_at=max(entry.at for _, entry in asked),
        exercises=tuple(from_told(exercise, entry.told) for exercise, entry in asked),
        environment=replace(describe_machine(sheet.setup, None), confinement=_least([entry for _, entry in asked])),
        authors=authors,
    )


def reports(sheet: Sheet, journal: Journal) -> Iterator[Report]:
    """The reports of all submissions that were ever graded, by name, one after another."""
    for author, authors, digest in sorted(journal.authors()):
        if report := report_of(sheet, journal, author, authors, digest):
            yield report


def _least(entries: Sequence[Entry]) -> str | None:
    """The lowest level of confinement that any of them was graded at."""
    levels = [Level.of(entry.confinement) for entry in entries if entry.confinement]
    return min(levels).word if levels else None
