"""The gradebook as comma-separated values, for spreadsheets: of reports at hand, and of those read from files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.model import GradedExercise, Report, Score
from grader.model.score import points_text
from grader.report.safe import for_csv
from grader.report.schema import ReportFile

_LAST = ("earned", "possible", "undecided", "late_days", "final", "not_handed_in", "not_started")


@dataclass(frozen=True)
class GradebookRow:
    """What stands in a gradebook of one submission.

    Attributes:
        authors: of it; each gets a row.
        score: of all exercises together.
        earned: hundredths of a point by exercise, of those that were graded.
        missing: exercises of which no file was handed in.
        blank: exercises that were handed in as they were given out.
    """

    authors: tuple[str, ...]
    score: Score
    earned: Mapping[str, int]
    missing: frozenset[str]
    blank: frozenset[str]

    @classmethod
    def of(cls, report: Report) -> GradebookRow:
        """That of a report."""
        exercises = {graded.exercise.id: graded for graded in report.exercises}
        return cls(
            report.authors or (report.author,),
            report.score,
            {id: graded.score.earned for id, graded in exercises.items()},
            frozenset(id for id, graded in exercises.items() if not graded.handed_in),
            frozenset(id for id, graded in exercises.items() if is_blank(graded)),
        )

    @classmethod
    def read(cls, report: ReportFile) -> GradebookRow:
        """That of a report that was read from a file."""
        exercises = {exercise.id: exercise for exercise in report.exercises}
        missing = frozenset(id for id, exercise in exercises.items() if not exercise.handed_in)
        untouched = frozenset(id for id, exercise in exercises.items() if exercise.state == "not_started")
        earned = {id: exercise.score.exact.earned for id, exercise in exercises.items()}
        return cls(report.members, report.score.exact, earned, missing, untouched - missing)


def gradebook_csv(ids: Sequence[str], rows: Iterable[GradebookRow]) -> str:
    """A row for each author, also of those in a group.

    A cell is blank where no file of the exercise was handed in, or where it was not graded. What an author did not hand
    in, and what was handed in as it was given out, is named at the end of the row: a number would not tell it from an
    answer that earned nothing.

    Args:
        ids: of the exercises that have columns.
        rows: of the submissions.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["author", *map(for_csv, ids), *_LAST])
    for row in rows:
        total = row.score
        decided = not total.undecided and len(row.earned) == len(ids)
        cells = [
            *(points_text(row.earned[id]) if id in row.earned and id not in row.missing else "" for id in ids),
            *map(points_text, (total.earned, total.possible, total.undecided)),
            "",
            points_text(total.earned) if decided else "",
            *(for_csv(" ".join(id for id in ids if id in some)) for some in (row.missing, row.blank)),
        ]
        writer.writerows([for_csv(author), *cells] for author in row.authors)
    return text.getvalue()


def is_blank(graded: GradedExercise) -> bool:
    """Whether an exercise was handed in as it was given out."""
    return graded.handed_in and graded.state == "not_started"
