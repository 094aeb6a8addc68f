"""A gradebook for a terminal: a row for each author. Names come last, so that their width does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model import Exercise, Report, Verdict
from grader.model.score import points_text
from grader.report.safe import for_terminal

_CELL = 7


def author_line(report: Report, number: int, total: int) -> str:
    """One line of progress."""
    return f"[{number}/{total}] {_points(report):>15}  {for_terminal(report.author, one_line=True)}"


def gradebook_lines(exercises: Sequence[Exercise], reports: Sequence[Report]) -> Iterator[str]:
    """The table, and how many outcomes are undecided."""
    yield "".join(f"{exercise.number:>{_CELL}}" for exercise in exercises) + f"{'total':>16}  author"
    for report in reports:
        cells = {graded.exercise.id: points_text(graded.score.earned) for graded in report.exercises}
        row = "".join(f"{cells[exercise.id]:>{_CELL}}" for exercise in exercises)
        yield f"{row}{_points(report):>16}  {for_terminal(report.author, one_line=True)}"
    verdicts = [row.outcome.verdict for report in reports for graded in report.exercises for row in graded.checks]
    # Undecided points look like lost ones in a column of numbers, so they are said in words.
    for verdict in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        if count := verdicts.count(verdict):
            yield f"{count} checks are {verdict.value.replace('_', ' ')}: their points are undecided, not lost"


def _points(report: Report) -> str:
    return f"{points_text(report.score.earned)} / {points_text(report.score.possible)}"
