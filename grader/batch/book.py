"""The journal as reports: what counts of each author, with the points that it has by the course as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from grader.batch.journal import Entry, Journal
from grader.confine.levels import Level
from grader.graded import graded_from
from grader.grading import Sheet
from grader.lanes.environment import describe_machine
from grader.model import Check, Exercise, GradedExercise, Outcome, Report
from grader.records import from_plain, to_plain


def to_told(graded: GradedExercise) -> dict[str, Any]:
    """An outcome as it is written down: no points, which come of the course."""
    return {
        "state": graded.state,
        "handed_in": graded.handed_in,
        "notes": list(graded.notes),
        "output": graded.output,
        "diagnosis": graded.diagnosis,
        "behaviour": graded.behaviour,
        "checks": [to_plain(row.check) for row in graded.checks],
        "outcomes": [to_plain(row.outcome) for row in graded.checks],
    }


def from_told(exercise: Exercise, told: dict[str, Any]) -> GradedExercise:
    """The graded exercise that was written down."""
    checks = [from_plain(Check, row) for row in told["checks"]]
    outcomes = [from_plain(Outcome, row) for row in told["outcomes"]]
    graded = graded_from(exercise, checks, outcomes, told["output"]) if checks else GradedExercise.untouched(exercise)
    return replace(
        graded,
        state=told["state"],
        handed_in=told["handed_in"],
        notes=tuple(told["notes"]),
        diagnosis=told["diagnosis"],
        behaviour=told.get("behaviour", ""),  # a journal of old has none
    )


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
