"""A report as JSON data, version 1. The key names are relied on by other programs: add, never rename."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.model import GradedCheck, GradedExercise, Report, Score
from grader.model.files import write_whole
from grader.model.score import in_points

VERSION = 1

_NAMED = re.compile(r"`(\w+)[`(]")


def to_plain(report: Report, *, staff: bool = False) -> dict[str, Any]:
    """The whole report; points are numbers with two decimals at most.

    Args:
        report: to be written.
        staff: whether only staff reads it: `detail` says what a hidden check compares.
    """
    return {
        "version": VERSION,
        "course": report.course,
        "handin": report.handin,
        "author": report.author,
        "authors": list(report.authors) or [report.author],
        "digest": report.digest,
        "graded_at": report.graded_at,
        "score": _score(report.score),
        "policy": None,
        "exercises": [_exercise(graded, staff) for graded in report.exercises],
        "environment": dict(vars(report.environment)),
    }


def _exercise(graded: GradedExercise, staff: bool) -> dict[str, Any]:
    exercise = graded.exercise
    return {
        "id": exercise.id,
        "number": exercise.number,
        "title": exercise.title,
        "module": exercise.module,
        "file": graded.place.file if graded.place else None,
        "state": graded.state,
        "handed_in": graded.handed_in,
        "notes": list(graded.notes),
        "score": _score(graded.score),
        "withheld": {"checks": exercise.withheld.checks, "points": in_points(graded.withheld_points)},
        "left_out": {"checks": len(graded.left_out), "points": in_points(graded.left_out_score.possible)},
        "held_by": graded.held_by,
        "diagnosis": graded.diagnosis,
        "hints": list(exercise.hints),
        "limits": dict(vars(exercise.limits)),
        "output": graded.output,
        "checks": [{**_check(row, staff), "line": _line(row, graded)} for row in graded.checks],
    }


def _check(row: GradedCheck, staff: bool) -> dict[str, Any]:
    check, outcome = row.check, row.outcome
    return {
        "id": check.id,
        "title": check.title,
        "contract": check.contract,
        "category": check.category,
        "shown": check.shown,
        "verdict": outcome.verdict.value,
        "earned": in_points(row.score.earned),
        "possible": in_points(row.score.possible),
        "held_back": in_points(row.held_back),
        "message": outcome.message,
        "detail": outcome.detail if staff or check.shown else "",
        "seconds": row.seconds,
        "counters": dict(outcome.counters),
        "speed": [dict(vars(found)) for found in row.speed],
        "device": outcome.device,
        "cause": outcome.cause,
        "picture": asdict(outcome.picture) if outcome.picture is not None else None,
    }


def _line(row: GradedCheck, graded: GradedExercise) -> int | None:
    """The line of the student's file that a check is about: what raised, or the function that the rule is of."""
    place, check = graded.place, row.check
    if place is None:
        return None
    # A module has the name that was asked for, whatever the file was called.
    asked = [graded.exercise.file_name] if Path(place.file).suffix == ".py" else []
    file = "|".join(map(re.escape, [Path(place.file).name, *asked]))
    raised = re.findall(rf"^ {{4}}(?:.*/)?(?:{file}), line (\d{{1,9}})\b", row.outcome.message, re.MULTILINE)
    if raised and 1 <= int(raised[-1]) <= place.lines:
        return int(raised[-1])
    named = _NAMED.findall(f"{row.outcome.message}\n{graded.exercise.contract.get(check.contract, '')}")
    return next((place.names[name] for name in named if name in place.names), None)


def _score(score: Score) -> dict[str, float]:
    return {
        "earned": in_points(score.earned),
        "possible": in_points(score.possible),
        "undecided": in_points(score.undecided),
    }


def json_of(report: Report, *, staff: bool = False) -> str:
    """A report as text; see `to_plain`."""
    return json.dumps(to_plain(report, staff=staff), indent=1, ensure_ascii=True) + "\n"


def write_json(path: Path, report: Report, *, staff: bool = False) -> None:
    """Write a report whole or not at all; see `to_plain`."""
    write_whole(path, json_of(report, staff=staff))
