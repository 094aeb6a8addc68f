"""A report read back from its JSON, for exporters: what the file says and nothing else, each value checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.model import Check, GradedCheck, Outcome, Score, Verdict
from grader.model.errors import CourseError
from grader.model.score import held_text
from grader.report.as_json import VERSION

_Points = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
_Value = str | int | float | bool | None


class _Row(BaseModel):
    """Keys that a later version adds are none of our business."""

    model_config = ConfigDict(frozen=True, strict=True)


class _Score(_Row):
    earned: _Points
    possible: _Points
    undecided: _Points

    def exact(self) -> Score:
        return Score(*(round(100 * number) for number in (self.earned, self.possible, self.undecided)))


class _Part(_Row):
    checks: int
    points: _Points


class _Check(_Row):
    id: str
    title: str
    contract: str
    category: str
    shown: bool
    verdict: Annotated[Verdict, Field(strict=False)]
    earned: _Points
    possible: _Points
    held_back: _Points = 0.0
    message: str
    detail: str = ""
    seconds: _Points | None = None
    counters: Mapping[str, int] = {}
    cause: str = ""
    line: int | None = None


class _Exercise(_Row):
    id: str
    number: str = ""
    title: str
    module: str
    file: str | None = None
    state: str
    handed_in: bool = True
    score: _Score
    withheld: _Part
    left_out: _Part = _Part(checks=0, points=0)
    held_by: str | None = None
    diagnosis: str | None = None
    hints: tuple[str, ...] = Field((), strict=False)
    limits: Mapping[str, _Points] = {}
    output: str = ""
    checks: tuple[_Check, ...] = Field(strict=False)


class _Report(_Row):
    version: int
    course: str
    handin: str | None = None
    author: str
    authors: tuple[str, ...] = Field((), strict=False)
    digest: str
    graded_at: str
    score: _Score
    exercises: tuple[_Exercise, ...] = Field(strict=False)
    environment: Mapping[str, _Value]


@dataclass(frozen=True)
class ReadExercise:
    """One exercise of a report.

    Attributes:
        id: its name in the course.
        number: such as "02-1", or "" in a report of old.
        title: its title.
        file: where the submission has its module, from its folder; None if it has not.
        state: not_started, started or done.
        handed_in: whether there was a file of it.
        score: in hundredths of a point, what is withheld or was left out among it as undecided.
        withheld: how many checks this copy does not have, and the hundredths that they decide.
        left_out: the same of checks that were not to run.
        held: why points that checks earned do not count, in a sentence, or "".
        diagnosis: a sentence for a known mistake, or None.
        hints: of the exercise, the mildest first.
        limits: what a submission might use, by the names of `Limits`; none in a report of old.
        output: what the student printed.
        checks: with their outcomes.
        lines: by a check's id, the line of the file that it is about.
    """

    id: str
    number: str
    title: str
    file: str | None
    state: str
    handed_in: bool
    score: Score
    withheld: tuple[int, int]
    left_out: tuple[int, int]
    held: str
    diagnosis: str | None
    hints: tuple[str, ...]
    limits: Mapping[str, float]
    output: str
    checks: tuple[GradedCheck, ...]
    lines: Mapping[str, int]

    @property
    def name(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}".strip()


@dataclass(frozen=True)
class ReadReport:
    """A report as its file says it; of a group, `author` names the group and `authors` are those in it."""

    course: str
    handin: str | None
    author: str
    authors: tuple[str, ...]
    digest: str
    graded_at: str
    exercises: tuple[ReadExercise, ...]
    score: Score
    environment: Mapping[str, _Value]


def read_report(path: Path) -> ReadReport:
    """Read a report of version 1.

    Raises:
        CourseError: the file cannot be read, or is no such report.
    """
    try:
        return from_json(path.read_text(encoding="utf-8"), path.as_posix())
    except OSError as error:
        raise CourseError(f"{path.as_posix()}: {error.strerror}; name a report that grade --json wrote") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path.as_posix()} is no report: it is not text") from None


def from_json(text: str, name: str) -> ReadReport:
    """The same of the text itself; `name` is told where something is wrong.

    Raises:
        CourseError: it is no such report.
    """
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        raise CourseError(f"{name} is no report: it is not JSON; name one that grade --json wrote") from None
    if isinstance(plain, dict) and plain.get("version") not in (VERSION, None):
        raise CourseError(f"{name} is a report of version {plain['version']!r}; this grader reads {VERSION}: update it")
    try:
        report = _Report.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise CourseError(f"{name} is no report: {where}: {first['msg']}") from None
    return ReadReport(
        course=report.course,
        handin=report.handin,
        author=report.author,
        authors=report.authors or (report.author,),
        digest=report.digest,
        graded_at=report.graded_at,
        exercises=tuple(_exercise(row) for row in report.exercises),
        score=report.score.exact(),
        environment=report.environment,
    )


def _exercise(row: _Exercise) -> ReadExercise:
    checks = tuple(_check(check, row.id) for check in row.checks)
    return ReadExercise(
        id=row.id,
        number=row.number,
        title=row.title,
        file=row.file,
        state=row.state,
        handed_in=row.handed_in,
        score=row.score.exact(),
        withheld=(row.withheld.checks, round(100 * row.withheld.points)),
        left_out=(row.left_out.checks, round(100 * row.left_out.points)),
        held=held_text(sum(check.held_back for check in checks), row.held_by),
        diagnosis=row.diagnosis,
        hints=row.hints,
        limits=row.limits,
        output=row.output,
        checks=checks,
        lines={check.id: check.line for check in row.checks if check.line is not None},
    )


def _check(row: _Check, exercise: str) -> GradedCheck:
    possible = round(100 * row.possible)
    outcome = Outcome(
        row.id, row.verdict, row.message, row.detail, row.seconds or 0.0, counters=row.counters, cause=row.cause
    )
    check = Check(row.id, exercise, row.title, row.contract, row.category, shown=row.shown)
    undecided = 0 if row.verdict.decided else possible
    score = Score(round(100 * row.earned), possible, undecided)
    return GradedCheck(check, outcome, score, round(100 * row.held_back))
