"""Gradescope's results.json: a test for each check; hidden ones are seen when grades are published.

The score at the top is what was earned. A check that is undecided has no score, so that it looks neither right nor
wrong, and says why. `detail`, which is for staff, goes nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from grader.report.export.checked import Options, Shape, Visibility, as_text, cut, number
from grader.report.export.items import Item, Kind, items_of
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

_LARGEST = 10_000_000
_MOST_TEXT = 8_000


class _Test(Shape):
    name: str = Field(min_length=1)
    name_format: Literal["text"] = "text"
    number: str
    score: float | int | None = None
    max_score: float | int | None = None
    status: Literal["passed", "failed"] | None = None
    output: str
    output_format: Literal["text"] = "text"
    visibility: Visibility


class _Results(Shape):
    score: float | int
    output: str
    output_format: Literal["text"] = "text"
    stdout_visibility: Literal["hidden"] = "hidden"
    tests: tuple[_Test, ...]
    extra_data: Mapping[str, str | float | int]


def gradescope(report: ReportFile, options: Options) -> str:
    """The report as results.json."""
    tests = tuple(_test(item, place, options.hidden) for place, item in enumerate(items_of(report), 1))
    total = report.score.exact
    extra = {"undecided": number(total.undecided), "possible": number(total.possible), "digest": report.digest}
    made = _Results(score=number(total.earned), output=_top(report), tests=tests, extra_data=extra)
    return as_text("Gradescope", made, _LARGEST)


def _top(report: ReportFile) -> str:
    # The total itself is Gradescope's to show: it hides it from students while hidden checks are.
    lines = [f"{report.course}. Grader {report.environment.get('grader')}, torch {report.environment.get('torch')}."]
    if report.score.exact.undecided:
        lines.append(f"{number(report.score.exact.undecided)} points are undecided: neither earned nor lost.")
    return for_terminal("\n".join(lines))


def _test(item: Item, place: int, hidden: Visibility) -> _Test:
    score, decided = item.score, item.kind is not Kind.OPEN
    passed = item.kind is Kind.PASSED
    return _Test(
        name=for_terminal(f"{item.exercise.name}: {item.title}", one_line=True) or item.id,
        number=item.exercise.number or str(place),
        score=number(score.earned) if decided else None,
        max_score=number(score.possible) if decided else None,
        status=None if not decided else "passed" if passed else "failed",
        output=cut(for_terminal(item.text), _MOST_TEXT),
        visibility="visible" if item.shown else hidden,
    )
