"""What a CI job shows: its log, annotations at the student's lines, and the job's page in Markdown.

A log has a collapsed group for each exercise. All student text goes through `safe.for_workflow`, so that no line of it
is a command. The page has a table, and for each exercise what to fix first, with a hint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from grader.model.score import counted
from grader.report.export.items import Item, Kind, Options, begun_or_not, cut, items_of, total_text
from grader.report.safe import (
    for_markdown_block,
    for_terminal,
    for_workflow,
    for_workflow_message,
    for_workflow_property,
)
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import hidden_text, score_text

_MOST_TEXT, _MOST_OF_A_MESSAGE = 4_000, 6_000
_LARGEST = 900_000
"""GitHub drops a summary of more than a mebibyte."""
_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a kind for each step."""

_NO_POINTS = "Points are not shown here, because this page is public."

Fold = Callable[[str, str], tuple[str, str]]


def plain_log(report: ReportFile, options: Options) -> str:
    """Lines for any log."""
    return _log(report, options, lambda name, title: (title, ""))


def gitlab_log(report: ReportFile, options: Options) -> str:
    """The same, in GitLab's collapsed sections."""
    seconds = _seconds(report.graded_at)

    def fold(name: str, title: str) -> tuple[str, str]:
        start = f"\x1b[0Ksection_start:{seconds}:grade_{name}[collapsed=true]\r\x1b[0K{title}"
        return start, f"\x1b[0Ksection_end:{seconds}:grade_{name}\r\x1b[0K"

    return _log(report, options, fold)


def github_log(report: ReportFile, options: Options) -> str:
    """The same, in GitHub's groups, with annotations."""
    log = _log(report, options, lambda name, title: (f"::group::{for_workflow_message(title)}", "::endgroup::"))
    return "\n".join([log.rstrip("\n"), *_annotations(items_of(report, points=options.points), options), ""])


def log_line(text: str) -> str:
    """A text as one line of any log, which no system takes for a command."""
    return for_workflow(for_terminal(text, one_line=True))


def _log(report: ReportFile, options: Options, fold: Fold) -> str:
    lines: list[str] = []
    items = items_of(report, points=options.points)
    begun, blank = begun_or_not(report)
    for number, exercise in enumerate(begun):
        own = [item for item in items if item.exercise is exercise]
        start, end = fold(str(number), log_line(_title(exercise, options)))
        lines += [start, *(line for item in own for line in _lines(item, options)), *([end] if end else [])]
    if blank:
        start, end = fold("not_started", f"not started: {counted(len(blank), 'exercise')}")
        lines += [start, *(log_line(f"  {_title(exercise, options)}") for exercise in blank), *([end] if end else [])]
    lines.append(total_text(report) if options.points else _NO_POINTS)
    return "\n".join(lines) + "\n"


def _title(exercise: ExerciseEntry, options: Options) -> str:
    points = score_text(exercise.score.exact)
    state = exercise.state.replace("_", " ")
    return f"{exercise.name}: {state}" + (f", {points} points" if options.points else "")


def _lines(item: Item, options: Options) -> Iterator[str]:
    kind = hidden_text(item.shown)
    points = f"  {score_text(item.score)}" if options.points else ""
    yield log_line(f"  {item.verdict:<13}{item.title}{kind}{points}")
    # Consequences of one mistake would be a wall of text; who wants all has the report.
    if item.text and (item.is_cause or item.kind is Kind.OPEN):
        text = for_workflow(for_terminal(cut(item.text, _MOST_TEXT)))
        yield from (f"      {line}" for line in text.split("\n"))


def _annotations(items: Sequence[Item], options: Options) -> Iterator[str]:
    causes = [item for item in items if item.is_cause]
    for item in causes[:_MOST_ANNOTATIONS]:
        yield _annotation("error", item, options)
    if len(causes) > _MOST_ANNOTATIONS:
        yield f"::notice::{len(causes) - _MOST_ANNOTATIONS} more exercises have something to fix; see the summary"
    open_ = [item for item in items if item.kind is Kind.OPEN and item.verdict in ("broken", "inconclusive")]
    for item in open_[:_MOST_ANNOTATIONS]:
        yield _annotation("warning", item, options)


def codequality(report: ReportFile, options: Options) -> str:
    """What to fix first in each exercise, as GitLab's Code Quality report: at the student's line, in the changes."""
    rows = []
    for item in items_of(report, points=options.points):
        if (file := options.path_of(item.exercise.file)) and item.is_cause:
            name = f"{item.exercise.id}/{item.id}"
            rows.append(
                {
                    "description": for_terminal(cut(f"{item.title}\n{item.text}".strip(), _MOST_TEXT)),
                    "check_name": for_terminal(name, one_line=True),
                    "fingerprint": hashlib.sha256(f"{file}\0{name}".encode("utf-8", "backslashreplace")).hexdigest(),
                    "severity": "major",
                    "location": {"path": for_terminal(file, one_line=True), "lines": {"begin": item.line or 1}},
                }
            )
    return json.dumps(rows, indent=1) + "\n"


def _annotation(word: str, item: Item, options: Options) -> str:
    properties = {"title": f"{item.exercise.name}: {item.title}"}
    if file := options.path_of(item.exercise.file):
        properties = {"file": file, "line": str(item.line or 1)} | properties
    facts = ",".join(f"{name}={for_workflow_property(value)}" for name, value in properties.items())
    return f"::{word} {facts}::{for_workflow_message(cut(item.text, _MOST_TEXT) or item.title)}"


def _seconds(graded_at: str) -> int:
    try:
        return int(datetime.fromisoformat(graded_at).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0


def markdown(report: ReportFile, options: Options) -> str:
    """The report as Markdown."""
    from grader.report.html import rendered  # jinja2, which no log needs

    begun, blank = begun_or_not(report)
    causes = [item for item in items_of(report, points=options.points) if item.is_cause]
    values = {
        "course": report.course,
        "begun": begun,
        "blank": blank,
        "total": f"**{total_text(report)}**" if options.points else _NO_POINTS,
        "policy": report.policy.explained if options.points and report.policy else "",
        "points": options.points,
        "path_of": options.path_of,
        "block_of": lambda text: for_markdown_block(cut(text, _MOST_OF_A_MESSAGE)),
        "open": [item for item in items_of(report) if item.kind is Kind.OPEN],  # so that it does not look lost
    }
    shown = len(causes)
    while True:
        text = rendered("summary.md", causes=causes[:shown], cut_off=shown < len(causes), **values)
        if not shown or len(text.encode("utf-8")) <= _LARGEST:
            return text
        shown //= 2
