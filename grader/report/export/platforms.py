"""JSON files of teaching platforms: Gradescope, PrairieLearn, GitHub Classroom, Classroom 50.

- Gradescope's results.json has a test for each check. Students see hidden ones when grades are published. The score at
  the top is what was earned. A check that is undecided has no score, so that it looks neither right nor wrong, and says
  why, at the top, too. If nothing was decided, there is no score. `detail`, which is for staff, goes nowhere.
- PrairieLearn's results.json has a score from 0 to 1 of what was decided. What is our fault, or could not be decided,
  costs no attempt: the submission is then not gradable, and the message says why. So is one of which no file loads.
- GitHub Classroom was retired in August 2026; its reporter's actions still work where they are used. It knows no
  undecided points, so those checks are errors that say what they are.
- Classroom 50 knows whole numbers only: its scores are hundredths of a point for every report, so that a column
  never changes its scale.

The tests hold each file against a schema of its platform.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grader.model.errors import CourseError
from grader.report.export.items import Item, Options, cut, items_of, number, total_text, why_undecided
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

_MOST_OUTPUT, _MOST_ALL = 8_000, 400_000
_MOST_MESSAGE = 500
"""Gradescope takes ten megabytes, PrairieLearn one, and an output of a step on GitHub has room for one in base 64."""

_STATUS = {"passed": "pass", "lost": "fail", "undecided": "error"}


def _as_text(made: Mapping[str, Any]) -> str:
    return json.dumps(made, indent=1, allow_nan=False) + "\n"


def gradescope(report: ReportFile, options: Options) -> str:
    """The report as results.json."""
    total = report.score.exact
    # The total itself is Gradescope's to show: it hides it from students while hidden checks are.
    top = [f"{report.course}. Grader {report.environment.get('grader')}, torch {report.environment.get('torch')}."]
    items = items_of(report)
    if total.undecided:
        top.append(f"{number(total.undecided)} points are undecided: neither earned nor lost.")
        top.append(why_undecided(items))
    extra = {"undecided": number(total.undecided), "possible": number(total.possible), "digest": report.digest}
    made = {
        **({"score": number(total.earned)} if total.undecided < total.possible else {}),
        "output": cut(for_terminal("\n".join(top)), _MOST_OUTPUT),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_gradescope_test(item, place, options) for place, item in enumerate(items, 1)],
        "extra_data": extra,
    }
    return _as_text(made)


def _gradescope_test(item: Item, place: int, options: Options) -> dict[str, Any]:
    decided = {
        "score": number(item.score.earned),
        "max_score": number(item.score.possible),
        "status": "passed" if item.kind == "passed" else "failed",
    }
    return {
        "name": item.name or item.id,
        "name_format": "text",
        "number": item.exercise.number or str(place),
        **(decided if item.kind != "undecided" else {}),
        "output": cut(for_terminal(item.text), _MOST_OUTPUT),
        "output_format": "text",
        "visibility": "visible" if item.shown else "after_published",
    }


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
        message += ". This is not gradable now, and costs no attempt; send it again, or ask your instructor:\n"
        message = cut(for_terminal(message + why_undecided(items)), _MOST_OUTPUT)
    score = {"score": round(min(1.0, max(0.0, total.earned / decided)), 6)} if gradable else {}
    most = min(_MOST_OUTPUT, _MOST_ALL // max(1, len(items)))
    tests = [
        {
            "name": item.name,
            "description": "",
            "points": number(item.score.earned),
            "max_points": number(item.score.possible),
            "message": cut(for_terminal(item.text), most),
        }
        for item in items
        if item.kind != "undecided"
    ]
    errors = {"format_errors": unread} if unread else {}
    made = {"gradable": gradable, **score, "message": message, **errors, "tests": tests}
    return _as_text(made)


def _unread(items: list[Item]) -> list[str]:
    """Why no file loads; nothing if one does."""
    graded = [item for item in items if item.kind != "undecided" and item.verdict != "not_started"]
    causes = [row.cause for item in graded for row in item.exercise.checks if row.id == item.id]
    if not causes or any(cause != "load" for cause in causes):
        return []
    return list(dict.fromkeys(cut(for_terminal(item.text), _MOST_OUTPUT) for item in graded))


def classroom(report: ReportFile, options: Options) -> str:
    """The report as the JSON object that a step hands to the reporter, once it is in base 64."""
    items = items_of(report)
    kinds = {item.kind for item in items}
    tests = [
        {
            "name": item.name,
            "status": _STATUS[item.kind],
            "score": number(item.score.earned),
            "message": cut(for_terminal(item.text), _MOST_MESSAGE),
            "test_code": "",
            "filename": for_terminal(item.exercise.file or "", one_line=True),
            "line_no": item.line or 0,
            "duration": round(item.seconds, 3),
        }
        for item in items
    ]
    made = {
        "version": 3,
        "status": "fail" if "lost" in kinds else "error" if "undecided" in kinds else "pass",
        "max_score": number(report.score.exact.possible),
        "message": total_text(report),
        "tests": tests,
    }
    return _as_text(made)


_NAMES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
"""Each key of the result that names the submission, and the variable in which Classroom 50's runner gives it."""


def classroom50(report: ReportFile, options: Options) -> str:
    """The report as Classroom 50's result.json; scores are hundredths of a point.

    Raises:
        CourseError: the variables that its runner sets are not there.
    """
    environ = options.environ
    named = {key: environ.get(name, "") for key, name in _NAMES.items()}
    named["owner"] = named["owner"] or environ.get("USERNAME", "")
    missing = [_NAMES[key] for key, value in named.items() if not value]
    if missing or not named["submission"].startswith("submit/"):
        names = ", ".join(missing) or "SUBMISSION_TAG, which begins with submit/"
        raise CourseError(f"--format classroom50: its runner sets {names} in the environment, which is not so here")
    at = report.graded_at[:19]
    made = {
        "schema": "classroom50/result/v1",
        **named,
        "assignment_type": "group" if environ.get("ASSIGNMENT_TYPE") == "group" else "individual",
        "review": environ.get("REVIEW_URL") or named["commit"],
        "datetime": f"{at}Z",  # the runner puts the commit's own time in its place
        "graded_at": f"{at}Z",
        "score": report.score.exact.earned,
        "max-score": report.score.exact.possible,
        "tests": [_test50(item) for item in items_of(report)],
    }
    return _as_text(made)


def _test50(item: Item) -> dict[str, Any]:
    points = f"{number(item.score.earned)} of {number(item.score.possible)} points, here in hundredths"
    return {
        "test-name": item.name,
        "passed": item.kind == "passed",
        "score": item.score.earned,
        "max-score": item.score.possible,
        "message": cut(for_terminal(f"{points}\n{item.text}".strip()), _MOST_MESSAGE),
        "verdict": item.verdict,
    }
