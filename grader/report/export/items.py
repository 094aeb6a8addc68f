"""A report as rows that other programs know: each check, and what stands for checks that did not run.

The points of all items of an exercise add up to those of the exercise, even if few ran. Below is what all formats
share: what a user can choose, and how long a text and how large a file may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from grader.model import Score, Verdict
from grader.model.score import Causes, counted, points_text
from grader.report.safe import for_terminal
from grader.report.schema import CheckEntry, ExerciseEntry, ReportFile

Kind = Literal["passed", "lost", "undecided"]
"""How an item counts. Programs that have no word for what is undecided must not call it a failure."""


@dataclass(frozen=True)
class Item:
    """A row of a report.

    Attributes:
        exercise: whose it is.
        id: unique in its exercise.
        title: one line, with its rule in front.
        verdict: a check's, or "not_started", "withheld", "not_reached".
        kind: how it counts.
        score: in hundredths.
        text: the message for the student, or "".
        shown: whether students have the check.
        seconds: how long it took, if students may know.
        line: where in the student's file, or None.
        is_cause: whether it is the one of its exercise to fix first.
    """

    exercise: ExerciseEntry
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

    @property
    def name(self) -> str:
        """Exercise and title in a line that is safe to show."""
        return for_terminal(f"{self.exercise.name}: {self.title}", one_line=True)


def items_of(report: ReportFile, *, points: bool = True) -> list[Item]:
    """The items of all exercises, in their order; without `points` no text names points."""
    return [item for exercise in report.exercises for item in _items(exercise, points=points)]


def _items(exercise: ExerciseEntry, *, points: bool) -> Iterator[Item]:
    cause = Causes.of([row.graded for row in exercise.checks]).cause
    for row in exercise.checks:
        yield _item(exercise, row, is_cause=row.graded is cause, points=points)
    withheld = exercise.withheld
    if withheld.checks:
        what = f"{points_text(withheld.exact)} points" if points else "more"
        text = f"{counted(withheld.checks, 'hidden check')} will decide {what} at hand-in"
        yield _open(exercise, "withheld", "Hidden checks", withheld.exact, text, shown=False)
    ran = sum(row.graded.score.possible for row in exercise.checks)
    rest = exercise.score.exact.possible - ran - withheld.exact
    if rest > 0:  # of an exercise of which no check was run, or some not yet
        if exercise.state == "not_started":
            text = "the file is the unchanged starter, or no file was handed in"
            yield Item(exercise, "not_started", "Not started", "not_started", "lost", Score(0, rest), text)
        else:
            what = "these checks; their" if exercise.checks else "this exercise; its"
            text = f"grading ended before {what} points are neither earned nor lost"
            yield _open(exercise, "not_reached", "Not graded", rest, text)


def _open(exercise: ExerciseEntry, id: str, title: str, worth: int, text: str, *, shown: bool = True) -> Item:
    """What stands for checks that did not run."""
    return Item(exercise, id, title, id, "undecided", Score(0, worth, worth), text, shown)


def _item(exercise: ExerciseEntry, row: CheckEntry, *, is_cause: bool, points: bool) -> Item:
    verdict, score, text = row.graded.verdict, row.graded.score, row.message
    kind: Kind = "passed" if verdict is Verdict.PASSED else "lost" if verdict.decided else "undecided"
    if row.set_by:
        text = f"{row.set_by}\n{text}".strip()
    if is_cause and exercise.diagnosis:
        text = f"{text}\nThis looks like: {exercise.diagnosis}".strip()
    if points and exercise.held and (is_cause or row.held_back):
        text = f"{text}\n{exercise.held}".strip()
    if kind == "undecided":
        word = verdict.value.replace("_", " ")
        what = f"{points_text(score.possible)} points are" if points else "this is"
        text = f"{word}: {what} neither earned nor lost\n{text}".strip()
    title, seconds = f"{row.contract} {row.title}".strip(), max(0.0, row.seconds or 0.0)
    return Item(exercise, row.id, title, verdict.value, kind, score, text, row.shown, seconds, row.line, is_cause)


def why_undecided(items: Sequence[Item]) -> str:
    """Why points are undecided, each reason once; "" if all are decided. Titles of hidden checks are not in it."""
    reasons = dict.fromkeys(f"{item.exercise.name}: {item.text}" for item in items if item.kind == "undecided")
    return "\n".join(reasons)


def total_text(report: ReportFile) -> str:
    """The points of a report in a line; undecided points stand apart."""
    total = report.score.exact
    text = f"{points_text(total.earned)} of {points_text(total.possible)} points"
    if total.undecided:
        text += f"; {points_text(total.undecided)} more are undecided, neither earned nor lost"
    return text


@dataclass(frozen=True)
class Options:
    """What a report does not say, and some formats need.

    Attributes:
        environ: the environment, in which platforms tell what is graded.
        points: whether points are shown: what a public repository's workflow prints is public.
        folder: of the submission, from the root of the repository; None if it lies outside.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    points: bool = True
    folder: str | None = ""

    def path_of(self, file: str | None) -> str | None:
        """A file of the submission, as a path from the root of the repository."""
        if file is None or self.folder is None:
            return None
        return f"{self.folder}/{file}" if self.folder else file


def cut(text: str, most: int) -> str:
    """A text that is no longer than that, and says so where it ends early."""
    if len(text) <= most:
        return text
    beginning = text[:most].rpartition("\n")[0] or text[:most]
    return f"{beginning}\n({len(text) - len(beginning)} more characters)"


def number(hundredths: int) -> float | int:
    """Points as JSON has them: whole ones without a fraction."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100
