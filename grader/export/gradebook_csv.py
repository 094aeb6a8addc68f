"""The gradebook as comma-separated values, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from grader.model import Exercise, Report
from grader.model.score import points_text
from grader.report.safe import for_csv


def gradebook_csv(exercises: Sequence[Exercise], reports: Sequence[Report]) -> str:
    """A row for each author: a column for each exercise, then earned, possible, undecided, late_days, final."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ids = [exercise.id for exercise in exercises]
    writer.writerow(["author", *ids, "earned", "possible", "undecided", "late_days", "final"])
    for item in reports:
        cells = {graded.exercise.id: points_text(graded.score.earned) for graded in item.exercises}
        total = item.score
        writer.writerow(
            [
                for_csv(item.author),
                *(cells[id] for id in ids),
                points_text(total.earned),
                points_text(total.possible),
                points_text(total.undecided),
                "",
                points_text(total.earned) if not total.undecided else "",
            ]
        )
    return text.getvalue()
