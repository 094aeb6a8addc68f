"""What a CI job shows: its log, annotations at the student's lines, and the job's page in Markdown.

A log has a collapsed group for each exercise. All student text goes through `safe.for_workflow`, so that no line of it
is a command. The page has a table, and for each exercise what to fix first, with a hint.
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import partial

from grader.report.export.items import Kind, Options, begun_or_not, cut, items_of, total_text
from grader.report.safe import for_markdown_block, for_terminal, for_workflow
from grader.report.schema import ReportFile

_MOST_TEXT, _MOST_OF_A_MESSAGE = 4_000, 6_000
_LARGEST = 900_000
"""GitHub drops a summary of more than a mebibyte."""
_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a kind for each step."""

_NO_POINTS = "Points are not shown here, because this page is public."


def plain_log(report: ReportFile, options: Options) -> str:
    """Lines for any log."""
    return _log(report, options)


def gitlab_log(report: ReportFile, options: Options) -> str:
    """The same, in GitLab's collapsed sections."""
    return _log(report, options, "gitlab")


def github_log(report: ReportFile, options: Options) -> str:
    """The same, in GitHub's groups, with annotations."""
    return _log(report, options, "github")


def log_line(text: str) -> str:
    """A text as one line of any log, which no system takes for a command."""
    return for_workflow(for_terminal(text, one_line=True))


def _log(report: ReportFile, options: Options, system: str = "") -> str:
    from grader.report.html import rendered

    begun, blank = begun_or_not(report)
    values = {
        "system": system,
        "seconds": int(time.time()),
        "items": items_of(report, points=options.points),
        "begun": begun,
        "blank": blank,
        "points": options.points,
        "total": total_text(report) if options.points else _NO_POINTS,
        "path_of": options.path_of,
        "cut": partial(cut, most=_MOST_TEXT),
        "most": _MOST_ANNOTATIONS,
    }
    return rendered("log.txt", **values)


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
