"""A graded exercise as JSON data, and back: how it travels, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.grading import graded_from
from grader.model import Check, Exercise, GradedExercise, Outcome
from grader.records import from_plain, to_plain


def to_told(graded: GradedExercise) -> dict[str, Any]:
    """An outcome as it is written down: no points, which come of the course."""
    return {
        "state": graded.state,
        "handed_in": graded.handed_in,
        "notes": list(graded.notes),
        "output": graded.output,
        "diagnosis": graded.diagnosis,
        "checks": [to_plain(row.check) for row in graded.checks],
        "outcomes": [to_plain(row.outcome) for row in graded.checks],
    }


def from_told(exercise: Exercise, told: dict[str, Any]) -> GradedExercise:
    """The graded exercise that was written down."""
    checks = [from_plain(Check, row) for row in told["checks"]]
    outcomes = [from_plain(Outcome, row) for row in told["outcomes"]]
    graded = graded_from(exercise, checks, outcomes, told["output"]) if checks else GradedExercise.untouched(exercise)
    return replace(
        graded,
        state=told["state"],
        handed_in=told["handed_in"],
        notes=tuple(told["notes"]),
        diagnosis=told["diagnosis"],
    )
