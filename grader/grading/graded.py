"""Outcomes → GradedExercise: the rows of a report, with their points; and an exercise as it is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.grading.origin import as_handed_in
from grader.model import Check, Exercise, GradedExercise, Outcome, Score, Submission, Verdict
from grader.model.score import hold_back, score
from grader.sandbox.records import from_plain, to_plain


def graded_from(
    exercise: Exercise, checks: Sequence[Check], outcomes: Sequence[Outcome], output: str = ""
) -> GradedExercise:
    """An exercise of which these outcomes are known; checks without one were left out."""
    ran = {outcome.check: outcome for outcome in outcomes}
    # Points are divided among all checks, whichever ran: those of a check are the same every time.
    every = [ran.get(check.id) or Outcome(check.id, Verdict.NOT_RUN) for check in checks]
    rows, withheld = score(exercise.points, checks, every, exercise.withheld.shares)
    rows, held_by = hold_back(rows, exercise.values, exercise.caps, withheld=exercise.withheld.checks > 0)
    total = sum((row.score for row in rows), Score(0, 0)) + Score(0, withheld, withheld)
    left_out = tuple(row for row in rows if row.check.id not in ran)
    rows = [row for row in rows if row.check.id in ran]
    verdicts = {row.outcome.verdict for row in rows}
    # Of what is broken nobody knows; what needs hardware that is not here is nothing that the student could do.
    all_passed = not left_out and Verdict.PASSED in verdicts and verdicts <= {Verdict.PASSED, Verdict.NOT_RUN}
    state = "done" if all_passed else "started"
    return GradedExercise(exercise, state, tuple(rows), total, withheld, output, left_out=left_out, held_by=held_by)


def graded_so_far(
    exercise: Exercise, submission: Submission, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> GradedExercise:
    """An exercise of which some checks have ended: the points of the others are undecided."""
    graded = graded_from(exercise, checks, outcomes)
    return as_handed_in(replace(graded, state="started", left_out=()), submission)


def broken(exercise: Exercise, problem: str) -> GradedExercise:
    """An exercise whose checks cannot be read."""
    check = Check("collection", exercise.id, "The checks of this exercise can be read", category="error")
    message = "the checks of this exercise are broken; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, problem)])


def lost(exercise: Exercise, why: str) -> GradedExercise:
    """An exercise of a submission that no machine could grade."""
    check = Check("machine", exercise.id, "A machine grades this exercise", category="error")
    message = "the machines that graded this exercise were lost; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, why)])


def to_told(graded: GradedExercise) -> dict[str, Any]:
    """An outcome as it is written down: no points, which come of the course."""
    return {
        "state": graded.state,
        "handed_in": graded.handed_in,
        "notes": list(graded.notes),
        "output": graded.output,
        "diagnosis": graded.diagnosis,
        "behaviour": graded.behaviour,
        "checks": [to_plain(row.check) for row in graded.checks],
        "outcomes": [to_plain(row.outcome) for row in graded.checks],
    }


def from_told(exercise: Exercise, told: dict[str, Any]) -> GradedExercise:
    """The graded exercise that was written down."""
    checks = [from_plain(Check, row) for row in told["checks"]]
    outcomes = [from_plain(Outcome, row) for row in told["outcomes"]]
    graded = graded_from(exercise, checks, outcomes, told["output"]) if checks else GradedExercise.untouched(exercise)
    if told["state"] == "not_started":
        graded = graded.not_started()
    return replace(
        graded,
        state=told["state"],
        handed_in=told["handed_in"],
        notes=tuple(told["notes"]),
        diagnosis=told["diagnosis"],
        behaviour=told.get("behaviour", ""),  # what was written down of old has none
    )
