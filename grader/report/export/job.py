"""What a CI job shows: its log, annotations at the student's lines, and the job's page in Markdown.

A log has a collapsed group for each exercise. All student text goes through `safe.for_workflow`, so that no line of it
is a command. The page has a table, and for each exercise what to fix first, with a hint.
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import partial

from grader.report.export.items import Options, cut, items_of, total_text
from grader.report.safe import for_terminal, for_workflow
from grader.report.schema import ReportFile

_MOST_TEXT, _MOST_EXERCISES = 4_000, 50
"""GitHub drops a summary of more than a mebibyte."""
_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a kind for each step."""


def log(report: ReportFile, options: Options, system: str = "") -> str:
    """Lines for any log; on "github" in groups and with annotations, on "gitlab" in collapsed sections."""
    seconds, most = int(time.time()), _MOST_ANNOTATIONS
    return _rendered("log.txt", report, options, system=system, seconds=seconds, most=most)


def log_line(text: str) -> str:
    """A text as one line of any log, which no system takes for a command."""
    return for_workflow(for_terminal(text, one_line=True))


def _rendered(template: str, report: ReportFile, options: Options, **values: object) -> str:
    from grader.report.html import rendered  # jinja2, which few commands need

    items, total, shortened = items_of(report, points=options.points), total_text(report), partial(cut, most=_MOST_TEXT)
    return rendered(template, report=report, options=options, items=items, total=total, cut=shortened, **values)


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
    """The report as Markdown, with what to fix in the first exercises."""
    return _rendered("summary.md", report, options, shown=_MOST_EXERCISES)
