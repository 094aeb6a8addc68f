"""What a regrade changed, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.score import points_text
from grader.report.safe import for_terminal


def exercise_line(author: str, number: str, before: int, after: int, why: str) -> str:
    """One exercise of an author, with points in hundredths before and after."""
    change = f"{points_text(before)} -> {points_text(after)}"
    return f"{number:>6} {change:>14}  {for_terminal(author, one_line=True)}  ({why})"


def check_lines(id: str, before: tuple[str, int] | None, after: tuple[str, int] | None) -> Iterator[str]:
    """One check that ended otherwise."""
    told = [f"{verdict[0]} {points_text(verdict[1])}" if verdict else "none" for verdict in (before, after)]
    yield f"{'':>8}{' -> '.join(told)}  {for_terminal(id, one_line=True)}"
