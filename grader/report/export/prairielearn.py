"""PrairieLearn's results.json: a score from 0 to 1 of what was decided.

What is our fault, or could not be told, costs no attempt: the submission is then not gradable. So is one of which no
file loads.
"""

from __future__ import annotations

from pydantic import Field

from grader.report.export.checked import Options, Shape, as_text, cut, number
from grader.report.export.items import Item, Kind, items_of, total_text
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

_LARGEST = 1_000_000
_MOST_TEXT, _MOST_ALL = 8_000, 400_000


class _Test(Shape):
    name: str
    description: str = ""
    points: float | int
    max_points: float | int
    message: str = ""


class _Results(Shape):
    gradable: bool
    score: float | None = Field(None, ge=0, le=1)
    message: str
    format_errors: tuple[str, ...] | None = None
    tests: tuple[_Test, ...]


def prairielearn(report: ReportFile, options: Options) -> str:
    """The report as results.json."""
    items = items_of(report)
    total = report.score.exact
    decided = total.possible - total.undecided
    faulty = any(item.verdict in ("broken", "inconclusive", "not_reached") for item in items)
    unread = _unread(items)
    gradable = bool(decided) and not faulty and not unread
    message = total_text(report)
    if faulty or not decided:
        message += ". Something could not be decided, through no fault of yours: this costs no attempt; send it again"
    most = min(_MOST_TEXT, _MOST_ALL // max(1, len(items)))
    made = _Results(
        gradable=gradable,
        score=round(min(1.0, max(0.0, total.earned / decided)), 6) if gradable else None,
        message=message,
        format_errors=unread or None,
        tests=tuple(_test(item, most) for item in items if item.kind is not Kind.OPEN),
    )
    return as_text("PrairieLearn", made, _LARGEST)


def _unread(items: list[Item]) -> tuple[str, ...]:
    """Why no file loads; nothing if one does."""
    graded = [item for item in items if item.kind is not Kind.OPEN and item.verdict != "not_started"]
    causes = [row.cause for item in graded for row in item.exercise.checks if row.id == item.id]
    if not causes or any(cause != "load" for cause in causes):
        return ()
    return tuple(dict.fromkeys(cut(for_terminal(item.text), _MOST_TEXT) for item in graded))


def _test(item: Item, most: int) -> _Test:
    return _Test(
        name=for_terminal(f"{item.exercise.name}: {item.title}", one_line=True),
        points=number(item.score.earned),
        max_points=number(item.score.possible),
        message=cut(for_terminal(item.text), most),
    )
