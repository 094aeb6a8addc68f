"""A class in the terminal: its exercises, and groups of answers that no known mistake explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grader.batch.class_summary import ClassSummary
from grader.model import Verdict
from grader.model.score import pluralize
from grader.report.blocks import Cell, TableColumn, code_lines, table_lines
from grader.report.gradebook import BY_HAND, needs_points_text
from grader.report.safe import for_terminal, prose
from grader.report.words import VERDICTS

_STEP = "      "
_FEW_ROWS, _WIDE = 4, 70
_LEGEND = "in: handed in; all: full marks; known: made a known mistake; new: lost points that no known mistake explains"


def class_lines(overview: ClassSummary, width: int) -> Iterator[str]:
    """Yield lines for a terminal: the class, its exercises, and what is undecided."""
    people = pluralize(len(overview.rows), "submission")
    yield from prose(f"{overview.course.title}: {people}, {overview.mean_and_median}", width, further="  ")
    yield ""
    yield from _exercise_lines(overview, width)
    yield from prose(_LEGEND, width, "  ", "  ")
    for verdict, count in Counter(verdict for _, _, verdict in overview.open).items():
        text = f"{VERDICTS[verdict][0]}: {pluralize(count, 'exercise')} of submissions; the page names them."
        yield from prose(text, width, further="  ")
    for (exercise, rule, _), authors in overview.by_staff.items():
        waits = needs_points_text(exercise, rule, len(authors))
        yield from prose(f"{waits}; {BY_HAND}, and the page names them.", width, further="  ")


def _exercise_lines(overview: ClassSummary, width: int) -> Iterator[str]:
    """Yield a table that shows how the class did in each exercise.

    A row has the number of authors who handed the exercise in, of those with all points, the mean, and the numbers of
    authors with a known mistake and of those who lost points that no known mistake explains. The check that most
    authors lost points on is named in the row, or below the table in a narrow terminal.
    """
    heads = [TableColumn("in", 5), *(TableColumn(title, len(title)) for title in ("all", "mean", "known", "new"))]
    rows: list[list[Cell]] = []
    below: list[str] = []
    for tally in overview.exercises:
        numbers = (len(tally.scores), tally.full, tally.mean, tally.explained_count, tally.unexplained_count)
        title = for_terminal(f"{tally.exercise.number} {tally.exercise.title}", one_line=True)
        hardest: list[str] = []
        if tally.hardest:
            check, lost = tally.hardest
            text = for_terminal(f"{lost} lose {check.contract} {check.title}", one_line=True)
            # A narrow column would have a word in each line.
            if width >= _WIDE:
                hardest = [text]
            else:
                below.append(f"{tally.exercise.number}: {text}")
        rows.append([*map(str, numbers), (title, *hardest)])
    yield from table_lines([*heads, TableColumn("exercise", is_text=True)], rows, width)
    for text in below:
        yield from prose(text, width, "  ", "  ")


def group_lines(overview: ClassSummary, most: int, width: int, *, colours: bool = False) -> Iterator[str]:
    """Yield lines for a terminal that show the largest groups of similar answers.

    For each group, they show one submission: the checks that lost points, and lines of its code.

    Args:
        overview: the class.
        most: the number of groups that are shown at most.
        width: columns of the terminal.
        colours: True if the lines of code are coloured.
    """
    groups = overview.groups
    if groups:
        shown = f" ({most} of {len(groups)}; --all shows the others)" if len(groups) > most else ""
        yield ""
        text = f"Answers that no known mistake explains, by function and behaviour{shown}:"
        yield from prose(text, width, further="  ")
    for group in groups[:most]:
        count, example = pluralize(len(group.members), "submission"), overview.example(group)
        where = f", {group.function}" if group.function else ""
        title = f"{group.name}  {count} of {group.exercise.number} {group.exercise.title}{where}"
        yield from prose(for_terminal(title, one_line=True), width, "", _STEP)
        where = f", {example.path}" if example.path else ""
        yield from prose(for_terminal(f"{example.author}{where}", one_line=True), width, _STEP, "  ")
        for row in example.rows[:_FEW_ROWS]:
            title = f"{VERDICTS[row.outcome.verdict][0]:<6}{row.check.contract} {row.check.title}"
            yield from prose(title, width, _STEP, _STEP)
        if (more := len(example.rows) - _FEW_ROWS) > 0:
            yield f"{_STEP}... {pluralize(more, 'more check')}"
        # The line at which time ran out differs from run to run, so it has no sign.
        is_late = any(row.outcome.verdict is Verdict.TIMED_OUT for row in example.rows)
        lines = [(number, text, is_marked and not is_late) for number, text, is_marked in example.lines]
        yield from code_lines(lines, _STEP[2:], width, colours=colours)
        if group.why_not:
            yield from prose(f"No wrong answer can be made of it: {group.why_not}.", width, _STEP, "  ")
