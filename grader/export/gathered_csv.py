"""The gradebook of reports that were read from files: the columns of a batch's."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from grader.model.score import points_text
from grader.report.from_json import ReadReport
from grader.report.safe import for_csv


def gathered_csv(reports: Sequence[ReadReport]) -> str:
    """A row for each author, also of those in a group.

    The cell of an exercise that a report does not have is blank, and so is `final` then.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ids = list(dict.fromkeys(exercise.id for report in reports for exercise in report.exercises))
    head = [for_csv(id) for id in ids]
    writer.writerow(["author", *head, "earned", "possible", "undecided", "late_days", "final"])
    for report in reports:
        cells = {exercise.id: points_text(exercise.score.earned) for exercise in report.exercises}
        total = report.score
        decided = not total.undecided and len(cells) == len(ids)
        numbers = [points_text(number) for number in (total.earned, total.possible, total.undecided)]
        final = points_text(total.earned) if decided else ""
        row = [*(cells.get(id, "") for id in ids), *numbers, "", final]
        writer.writerows([for_csv(author), *row] for author in report.authors)
    return text.getvalue()
