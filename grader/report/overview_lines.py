"""A class at a glance for a terminal: a row for each exercise, then the groups of what nothing explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from grader.model.score import counted
from grader.report.lines import cut, filled
from grader.report.overview import ExerciseTally, GroupTold, Overview, mean_points, middle_text
from grader.report.safe import for_terminal
from grader.report.words import VERDICTS

_FEW_LINES, _FEW_ROWS = 12, 4
_STEP = "      "
_BESIDE, _WIDE = 30, 70
_LEGEND = "in: handed in; all: with all points; known: told a known mistake; new: not explained"


def overview_lines(overview: Overview, width: int) -> Iterator[str]:
    """The class, its exercises, and what is undecided."""
    people = counted(len(overview.rows), "submission")
    middle = middle_text([row.score for row in overview.rows])
    yield from filled(f"{for_terminal(overview.course, one_line=True)}: {people}, {middle}".split(), "", width)
    yield ""
    yield f"{'in':>5}{'all':>5}{'mean':>6}{'known':>7}{'new':>5}  exercise"
    for tally in overview.exercises:
        yield from _exercise(tally, width)
    yield from filled(_LEGEND.split(), "  ", width)
    for verdict, count in Counter(verdict for _, _, verdict in overview.open).items():
        told = f"{VERDICTS[verdict][0]}: {counted(count, 'exercise')} of submissions; the page names them."
        yield from filled(told.split(), "", width)


def _exercise(tally: ExerciseTally, width: int) -> Iterator[str]:
    name = for_terminal(f"{tally.exercise.number} {tally.exercise.title}", one_line=True)
    numbers = f"{len(tally.scores):>5}{tally.full:>5}{mean_points(tally):>6}{tally.explained:>7}{tally.unexplained:>5}"
    yield cut(f"{numbers}  {name}", width)
    if hardest := tally.hardest:
        told = for_terminal(f"{hardest.check.contract} {hardest.check.title}".strip(), one_line=True)
        yield cut(f"{'':>{_BESIDE if width >= _WIDE else len(_STEP)}}{hardest.lost} lose {told}", width)


def group_lines(groups: Sequence[GroupTold], most: int, width: int) -> Iterator[str]:
    """The largest groups, each with an example."""
    if not groups:
        return
    yield ""
    shown = f" ({most} of {len(groups)}; --all shows the others)" if len(groups) > most else ""
    yield from filled(f"Not explained by a known mistake, what behaves alike together{shown}:".split(), "", width)
    for group in groups[:most]:
        yield from _group(group, width)


def _group(group: GroupTold, width: int) -> Iterator[str]:
    example = group.example
    count = counted(len(group.authors), "submission")
    yield cut(f"{group.name}  {count} of {group.exercise.number} {group.exercise.title}", width)
    where = f", {example.path}" if example.path else ""
    yield from filled(for_terminal(f"{example.author}{where}", one_line=True).split(" "), _STEP, width)
    for row in example.rows[:_FEW_ROWS]:
        told = for_terminal(f"{row.check.contract} {row.check.title}".strip(), one_line=True)
        yield cut(f"{_STEP}{VERDICTS[row.outcome.verdict][0]:<6}{told}", width)
    if (more := len(example.rows) - _FEW_ROWS) > 0:
        yield f"{_STEP}... {counted(more, 'more check')}"
    for number, line in example.lines[:_FEW_LINES]:
        yield cut(f"{_STEP}{number:>4}  {for_terminal(line, one_line=True)}", width)
    if (more := len(example.lines) - _FEW_LINES) > 0:
        yield f"{_STEP}      ... {counted(more, 'more line')}"
    if group.why_not:
        yield from filled(f"No wrong answer can be made of it: {group.why_not}.".split(), _STEP, width)
