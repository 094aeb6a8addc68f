"""A gradebook for a terminal: a row for each author. Names come last, so that their width does not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grader.model import Exercise, GradedExercise, Report, Verdict
from grader.model.score import points_text
from grader.report.safe import for_terminal

_CELL = 7
_NOTHING, _BLANK, _NEVER = "-", "=", "?"
LEGEND = {
    _NOTHING: "nothing handed in",
    _BLANK: "handed in as it was given out",
    _NEVER: "not graded",
}


def author_line(report: Report, number: int, total: int) -> str:
    """One line of progress."""
    return f"[{number}/{total}] {_points(report):>15}  {for_terminal(report.author, one_line=True)}"


def gradebook_lines(exercises: Sequence[Exercise], reports: Iterable[Report]) -> Iterator[str]:
    """The table, what its signs mean, and how many outcomes are undecided."""
    yield "".join(f"{exercise.number:>{_CELL}}" for exercise in exercises) + f"{'total':>16}  author"
    verdicts: Counter[Verdict] = Counter()
    seen: set[str] = set()
    for report in reports:
        found = {graded.exercise.id: graded for graded in report.exercises}
        cells = [cell_text(found.get(exercise.id)) for exercise in exercises]
        seen.update(cells)
        row = "".join(f"{cell:>{_CELL}}" for cell in cells)
        for author in report.authors or (report.author,):
            yield f"{row}{_points(report):>16}  {for_terminal(author, one_line=True)}"
        verdicts.update(row.outcome.verdict for graded in report.exercises for row in graded.checks)
    if told := [f"{sign} {meaning}" for sign, meaning in LEGEND.items() if sign in seen]:
        yield "  ".join(["", *told])
    # Undecided points look like lost ones in a column of numbers, so they are said in words.
    for verdict in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        if count := verdicts[verdict]:
            yield f"{count} checks are {verdict.value.replace('_', ' ')}: their points are undecided, not lost"


def cell_text(graded: GradedExercise | None) -> str:
    """Points, or a sign where there is nothing to give points for."""
    if graded is None:
        return _NEVER
    if not graded.handed_in:
        return _NOTHING
    return _BLANK if graded.state == "not_started" else points_text(graded.score.earned)


def _points(report: Report) -> str:
    return f"{points_text(report.score.earned)} / {points_text(report.score.possible)}"
