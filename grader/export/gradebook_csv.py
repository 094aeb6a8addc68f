"""The gradebook as comma-separated values, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from grader.model import Exercise, GradedExercise, Report
from grader.model.score import points_text
from grader.report.safe import for_csv


def gradebook_csv(exercises: Sequence[Exercise], reports: Iterable[Report]) -> str:
    """A row for each author, also of those in a group.

    A cell is blank where no file of the exercise was handed in, or where it was not graded. What an author did not hand
    in, and what was handed in as it was given out, is named at the end of the row: a number would not tell it from an
    answer that earned nothing.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ids = [exercise.id for exercise in exercises]
    last = ("earned", "possible", "undecided", "late_days", "final", "not_handed_in", "not_started")
    writer.writerow(["author", *ids, *last])
    for item in reports:
        found = {graded.exercise.id: graded for graded in item.exercises}
        total = item.score
        decided = not total.undecided and len(found) == len(ids)
        row = [
            *(points_text(found[id].score.earned) if id in found and found[id].handed_in else "" for id in ids),
            points_text(total.earned),
            points_text(total.possible),
            points_text(total.undecided),
            "",
            points_text(total.earned) if decided else "",
            " ".join(id for id in ids if id in found and not found[id].handed_in),
            " ".join(id for id in ids if id in found and is_blank(found[id])),
        ]
        writer.writerows([for_csv(author), *row] for author in item.authors or (item.author,))
    return text.getvalue()


def is_blank(graded: GradedExercise) -> bool:
    """Whether an exercise was handed in as it was given out."""
    return graded.handed_in and graded.state == "not_started"
