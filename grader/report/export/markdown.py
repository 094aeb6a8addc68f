"""A page in Markdown, for the summary of a job: the table, and for each exercise what to mend first, with a hint."""

from __future__ import annotations

from collections.abc import Iterator

from grader.report.export.checked import Options, cut
from grader.report.export.items import Item, Kind, begun_or_not, items_of, total_text
from grader.report.safe import for_markdown, for_markdown_block
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import hidden_text, score_text

_LARGEST = 900_000
"""GitHub drops a summary of more than a mebibyte."""
_MOST_TEXT = 6_000


def markdown(report: ReportFile, options: Options) -> str:
    """The report as Markdown."""
    head = "\n".join(_table(report, options))
    parts = [part for item in items_of(report) if item.is_cause for part in [_mistake(item, options)]]
    while parts and len((head + "".join(parts)).encode("utf-8")) > _LARGEST:
        parts = [*parts[: len(parts) // 2], "\nThe rest is in the report.\n"] if len(parts) > 1 else []
    return head + "".join(parts) + _open(report, options)


def _table(report: ReportFile, options: Options) -> Iterator[str]:
    yield f"### {for_markdown(report.course)}"
    yield ""
    begun, blank = begun_or_not(report)
    if begun:
        yield "| exercise | state |" + (" points |" if options.points else "")
        yield "|---|---|" + ("---:|" if options.points else "")
    for exercise in begun:
        row = f"| {for_markdown(exercise.name)} | {_state(exercise)} |"
        yield row + (f" {score_text(exercise.score.exact)} |" if options.points else "")
    if begun:
        yield ""
    if blank:
        yield f"Not started: {', '.join(for_markdown(exercise.name) for exercise in blank)}"
        yield ""
    yield f"**{total_text(report)}**" if options.points else "Points are not told here, as everybody can read this."
    yield ""


def _state(exercise: ExerciseEntry) -> str:
    words = {"not_started": "not started", "started": "started", "done": "done"}
    return words.get(exercise.state, "")


def _mistake(item: Item, options: Options) -> str:
    exercise = item.exercise
    file = options.path_of(exercise.file)
    place = f" in {for_markdown(file)}" if file else ""
    place += f", line {item.line}" if file and item.line else ""
    kind = hidden_text(item.shown)
    lines = [f"\n#### {for_markdown(exercise.name)}\n", f"{for_markdown(item.title)}{kind}{place}\n"]
    if item.text:
        lines.append(for_markdown_block(cut(item.text, _MOST_TEXT)))
    if exercise.hints:
        lines.append("<details><summary>A hint</summary>\n")
        lines.append(for_markdown_block(exercise.hints[0]) + "\n</details>\n")
    return "\n".join(lines)


def _open(report: ReportFile, options: Options) -> str:
    """What is undecided, so that nobody takes it for lost."""
    items = [item for item in items_of(report) if item.kind is Kind.OPEN]
    if not items:
        return ""
    rows = [f"- {for_markdown(item.exercise.name)}: {for_markdown(item.title)}" for item in items[:50]]
    more = [f"- and {len(items) - 50} more"] if len(items) > 50 else []
    return "\n".join(["\n#### Undecided: neither earned nor lost\n", *rows, *more, ""])
