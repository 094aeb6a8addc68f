"""The log of a CI job: a collapsed group for each exercise, and GitHub's annotations at the student's lines.

All student text goes through `safe.for_workflow`, so that no line of it is a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from grader.model.score import counted
from grader.report.export.checked import Options, cut
from grader.report.export.items import Item, Kind, begun_or_not, items_of, total_text
from grader.report.safe import for_terminal, for_workflow, for_workflow_message, for_workflow_property
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import hidden_text, score_text

_MOST_TEXT = 4_000
_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a kind for each step."""

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
    return "\n".join([log.rstrip("\n"), *_annotations(items_of(report), options), ""])


def log_line(text: str) -> str:
    """A text as one line of any log, which no system takes for a command."""
    return for_workflow(for_terminal(text, one_line=True))


def _log(report: ReportFile, options: Options, fold: Fold) -> str:
    lines: list[str] = []
    items = items_of(report)
    begun, blank = begun_or_not(report)
    for number, exercise in enumerate(begun):
        own = [item for item in items if item.exercise is exercise]
        start, end = fold(str(number), log_line(_title(exercise, options)))
        lines += [start, *(line for item in own for line in _lines(item, options)), *([end] if end else [])]
    if blank:
        start, end = fold("not_started", f"not started: {counted(len(blank), 'exercise')}")
        lines += [start, *(log_line(f"  {_title(exercise, options)}") for exercise in blank), *([end] if end else [])]
    lines.append(total_text(report) if options.points else "Points are not told here, as everybody can read this.")
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
        yield f"::notice::{len(causes) - _MOST_ANNOTATIONS} more exercises have something to mend; see the summary"
    open_ = [item for item in items if item.kind is Kind.OPEN and item.verdict in ("broken", "inconclusive")]
    for item in open_[:_MOST_ANNOTATIONS]:
        yield _annotation("warning", item, options)


def _annotation(word: str, item: Item, options: Options) -> str:
    properties = {"title": f"{item.exercise.name}: {item.title}"}
    if file := options.path_of(item.exercise.file):
        properties = {"file": file, "line": str(item.line or 1)} | properties
    told = ",".join(f"{name}={for_workflow_property(value)}" for name, value in properties.items())
    return f"::{word} {told}::{for_workflow_message(cut(item.text, _MOST_TEXT) or item.title)}"


def _seconds(graded_at: str) -> int:
    try:
        return int(datetime.fromisoformat(graded_at).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0
