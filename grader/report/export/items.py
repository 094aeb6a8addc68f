"""A report as rows that other programs know: each check, and what stands for checks that did not run.

The points of all items of an exercise add up to those of the exercise, whatever ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from grader.grading.causes import Told
from grader.model import GradedCheck, Score, Verdict
from grader.model.score import counted, points_text
from grader.report.from_json import ReadExercise, ReadReport


class Kind(Enum):
    """How an item counts."""

    PASSED = "passed"
    LOST = "lost"
    OPEN = "undecided"
    """Neither earned nor lost: programs that have no word for that must not call it a failure."""


@dataclass(frozen=True)
class Item:
    """A row of a report.

    Attributes:
        exercise: whose it is.
        id: unique in its exercise.
        title: one line, with its rule in front.
        verdict: a check's, or "not_started", "withheld", "left_out", "not_reached".
        kind: how it counts.
        score: in hundredths.
        text: what the student is told, or "".
        shown: whether students have the check.
        seconds: how long it took, as far as that may be told.
        line: where in the student's file, or None.
        is_cause: whether it is the one of its exercise that is to be mended first.
    """

    exercise: ReadExercise
    id: str
    title: str
    verdict: str
    kind: Kind
    score: Score
    text: str = ""
    shown: bool = True
    seconds: float = 0.0
    line: int | None = None
    is_cause: bool = False


def items_of(report: ReadReport) -> list[Item]:
    """The items of all exercises, in their order."""
    return [item for exercise in report.exercises for item in _items(exercise)]


def begun_or_not(report: ReadReport) -> tuple[list[ReadExercise], list[ReadExercise]]:
    """The exercises of which there is something to tell, and those that nobody has begun: a line for all of them."""
    parts: tuple[list[ReadExercise], list[ReadExercise]] = ([], [])
    for exercise in report.exercises:
        parts[exercise.state == "not_started" and not exercise.checks].append(exercise)
    return parts


def _items(exercise: ReadExercise) -> Iterator[Item]:
    cause = Told.of(exercise.checks).cause
    for row in exercise.checks:
        yield _item(exercise, row, is_cause=row is cause)
    checks, points = exercise.withheld
    if checks:
        text = f"{counted(checks, 'hidden check')}: {points_text(points)} points are decided when you hand in"
        score = Score(0, points, points)
        yield Item(exercise, "withheld", "Hidden checks", "withheld", Kind.OPEN, score, text, shown=False)
    checks, points = exercise.left_out
    if checks:
        text = f"{counted(checks, 'check')} left out, as asked for"
        yield Item(exercise, "left_out", "Checks left out", "left_out", Kind.OPEN, Score(0, points, points), text)
    parts = [row.score.possible for row in exercise.checks] + [exercise.withheld[1], exercise.left_out[1]]
    rest = exercise.score.possible - sum(parts)
    if rest > 0:  # of an exercise of which no check was run, or some not yet
        if exercise.state == "not_started":
            yield Item(exercise, "not_started", "Not started", "not_started", Kind.LOST, Score(0, rest), _untouched())
        else:
            what = "these checks; their" if exercise.checks else "this exercise; its"
            text = f"grading ended before {what} points are neither earned nor lost"
            yield Item(exercise, "not_reached", "Not graded", "not_reached", Kind.OPEN, Score(0, rest, rest), text)


def _untouched() -> str:
    return "the starter is as it was given out, or no file was handed in"


def _item(exercise: ReadExercise, row: GradedCheck, *, is_cause: bool) -> Item:
    check, outcome, score = row.check, row.outcome, row.score
    kind = Kind.OPEN if not outcome.verdict.decided else Kind.LOST
    if outcome.verdict is Verdict.PASSED:
        kind = Kind.PASSED
    text = outcome.message
    if is_cause and exercise.diagnosis:
        text = f"{text}\nThis looks like: {exercise.diagnosis}".strip()
    if exercise.held and (is_cause or row.held_back):
        text = f"{text}\n{exercise.held}".strip()
    if kind is Kind.OPEN:
        word = outcome.verdict.value.replace("_", " ")
        text = f"{word}: {points_text(score.possible)} points are neither earned nor lost\n{text}".strip()
    title = f"{check.contract} {check.title}".strip()
    seconds, line = max(0.0, outcome.seconds), exercise.lines.get(check.id)
    return Item(
        exercise, check.id, title, outcome.verdict.value, kind, score, text, check.shown, seconds, line, is_cause
    )


def total_text(report: ReadReport) -> str:
    """The points of a report in a line; what is undecided is told apart."""
    total = report.score
    text = f"{points_text(total.earned)} of {points_text(total.possible)} points"
    if total.undecided:
        text += f"; {points_text(total.undecided)} more are undecided, neither earned nor lost"
    return text
