"""Outcomes of checks of which the check process told none, or too late."""

from __future__ import annotations

from grader.model import BROKEN_MESSAGE, Check, Exercise, Outcome, Verdict


def too_late(check: str, exercise: Exercise) -> Outcome:
    """What becomes of a check when the time of its exercise is over."""
    seconds = exercise.limits.exercise_s
    text = f"the exercise as a whole took longer than {seconds:g} seconds"
    return Outcome(check, Verdict.TIMED_OUT, text, cause="raised")


def gone(check: Check, detail: str) -> Outcome:
    """What becomes of a check whose process is gone."""
    return Outcome(check.id, Verdict.BROKEN, BROKEN_MESSAGE, detail)


def too_much(check: Check, detail: str) -> Outcome:
    """What becomes of a check whose process is gone while it took in what the student's code gave."""
    return Outcome(check.id, Verdict.OVER_LIMIT, "your code gave more than the grader can take", detail, cause="raised")
