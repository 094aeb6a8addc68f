"""The report's JSON, version 1. These types are its only declaration: for writing, for reading, and for all exporters.

Other programs rely on the names and the order of the keys: add keys, never rename them. The reader ignores keys that it
does not know. Points are numbers with at most two decimals.

At the end, a run like that of a report: "it passes on my machine" is settled by what both have in common.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import AfterValidator, Field, GetPydanticSchema, PlainSerializer

from grader.model import Check, FinalScore, GradedCheck, GradedExercise, Outcome, Picture, Report, Score, Speed, Verdict
from grader.model.course import Exercise
from grader.model.errors import CourseError, FormatError
from grader.model.files import adapter, failing_as, from_json, read_limited, to_json
from grader.model.report import standing
from grader.model.score import held_text, in_points, listed, points_text
from grader.report.words import diagnosis_text

Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
_InFile = Annotated[Number, AfterValidator(lambda points: round(100 * points)), PlainSerializer(in_points)]
Points = Annotated[int, GetPydanticSchema(lambda _, handler: handler(_InFile))]
"""Hundredths of a point, which are points in the file."""

MOST_BYTES = 64 << 20
"""A report of a hundred exercises has about one."""

_COMPARED = ("grader", "torch", "numpy", "python", "os", "device", "start", "confinement")
_NAMED = re.compile(r"`(\w+)[`(]")

Entry = TypeVar("Entry")


def _entry(kind: type[Entry], *sources: object, **others: object) -> Entry:
    """An entry of what has the same name in one of the sources, the first that has it, and of what has another one."""
    for key in (one.name for one in fields(cast("Any", kind)) if one.name not in others):
        others[key] = next(getattr(source, key) for source in sources if hasattr(source, key))
    return kind(**others)


@dataclass(frozen=True, kw_only=True)
class ScoreEntry(Score):
    """What neither is earned nor undecided is lost."""

    earned: Points
    possible: Points
    undecided: Points = field()  # in a file it is never left out


@dataclass(frozen=True, kw_only=True)
class PartEntry:
    """Checks that did not run here: how many, and the points that they decide."""

    checks: Count
    points: Points


@dataclass(frozen=True, kw_only=True)
class CheckEntry:
    """One check with its outcome. `message` is for the student, `detail` for staff."""

    id: str
    title: str
    contract: str
    category: str
    shown: Flag
    verdict: Verdict
    earned: Points
    possible: Points
    held_back: Points = 0
    message: str
    detail: str = ""
    seconds: Number | None = None
    counters: Mapping[str, Count] = field(default_factory=dict)
    speed: tuple[Speed, ...] = ()
    device: str | None = None
    cause: str = ""
    picture: Picture | None = None
    line: Count | None = None
    set_by: str = ""

    @classmethod
    def of(cls, row: GradedCheck, graded: GradedExercise, *, staff: bool) -> Self:
        """The entry for a graded check."""
        detail = row.outcome.detail if staff or row.check.shown else ""
        others = {"verdict": row.outcome.verdict, "detail": detail, "line": line_of(row, graded)}
        # The outcome before the check: both have a device, and the report has the one that student code saw.
        return _entry(cls, row, row.score, row.outcome, row.check, **others)

    @cached_property
    def graded(self) -> GradedCheck:
        """The check as grading made it, as far as the report says."""
        score = Score(self.earned, self.possible, 0 if self.verdict.decided or self.set_by else self.possible)
        check = Check(self.id, "", self.title, self.contract, self.category, shown=self.shown)
        outcome = Outcome(self.id, self.verdict, self.message, self.detail, self.seconds or 0.0, cause=self.cause)
        return GradedCheck(check, outcome, score, self.held_back, self.set_by)


@dataclass(frozen=True, kw_only=True)
class ExerciseEntry:
    """One exercise. `file` is the path of its module from the submission's folder, or null if it has none."""

    id: str
    number: str = ""
    title: str
    module: str
    file: str | None = None
    state: str
    handed_in: Flag = True
    notes: tuple[str, ...] = ()
    score: ScoreEntry
    withheld: PartEntry
    left_out: PartEntry = PartEntry(checks=0, points=0)
    held_by: str | None = None
    diagnosis: str | None = None
    hints: tuple[str, ...] = ()
    limits: Mapping[str, Number] = field(default_factory=dict)
    output: str = ""
    checks: tuple[CheckEntry, ...]
    set_by: str = ""

    @classmethod
    def of(cls, graded: GradedExercise, *, staff: bool) -> Self:
        """The entry for a graded exercise."""
        exercise = graded.exercise
        return _entry(
            cls,
            graded,
            exercise,
            file=graded.place.file if graded.place else None,
            diagnosis=diagnosis_text(graded) or None,
            score=_entry(ScoreEntry, graded.score),
            withheld=PartEntry(checks=exercise.withheld.checks, points=graded.withheld_points),
            left_out=PartEntry(checks=len(graded.left_out), points=graded.left_out_score.possible),
            limits=vars(exercise.limits),
            checks=tuple(CheckEntry.of(row, graded, staff=staff) for row in graded.checks),
        )

    @property
    def name(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}".strip()

    @property
    def is_blank(self) -> bool:
        """Whether it has no results: those that are not started share a line."""
        return self.state == "not_started" and not self.checks

    @property
    def held(self) -> str:
        """Why points that checks earned do not count, in a sentence, or ""."""
        return held_text(sum(row.held_back for row in self.checks), self.held_by)


@dataclass(frozen=True, kw_only=True)
class FinalEntry(FinalScore):
    """What counts in the end; `final` is null while points are undecided, `late_days` if nothing says them."""

    raw: Points
    late_days: Count | None
    penalty: Points
    override: Points
    bonus: Points
    final: Points | None
    possible: Points
    grace_days: Count = 0
    explained: str = ""
    extra: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """One graded submission. Of a group, `author` is the name of the group, and `authors` are its members."""

    version: Literal[1]
    course: str
    handin: str | None = None
    author: str
    authors: tuple[str, ...] = ()
    digest: str
    graded_at: str
    score: ScoreEntry
    policy: FinalEntry | None = None
    exercises: tuple[ExerciseEntry, ...]
    environment: Mapping[str, str | Count | Number | Flag | None]

    @classmethod
    def of(cls, report: Report, *, staff: bool = False) -> Self:
        """The file of a report.

        Args:
            report: the report.
            staff: whether only staff reads it. `detail` then says what hidden checks compare.
        """
        return _entry(
            cls,
            report,
            version=1,
            authors=report.authors or (report.author,),
            score=_entry(ScoreEntry, report.score),
            policy=_entry(FinalEntry, report.policy) if report.policy else None,
            exercises=tuple(ExerciseEntry.of(graded, staff=staff) for graded in report.exercises),
            environment=vars(report.environment),
        )

    @property
    def total(self) -> Score:
        """What counts; see `grader.model.report.standing`."""
        return standing({exercise.id: exercise.score for exercise in self.exercises}, self.policy)

    @property
    def members(self) -> tuple[str, ...]:
        """Whose submission it is."""
        return self.authors or (self.author,)


def report_json(report: Report, *, staff: bool = False, indent: int | None = 1) -> bytes:
    """A report as it is written; see `ReportFile.of`. In one line, without an indent, it takes a tenth of the time."""
    return to_json(adapter(ReportFile).dump_python(ReportFile.of(report, staff=staff)), indent) + b"\n"


def read_report(path: Path) -> ReportFile:
    """Read a report of version 1.

    Raises:
        CourseError: the file cannot be read, is too large, or is not such a report; it lists every problem.
    """
    with failing_as(f"{path.as_posix()} cannot be read", "name a report that grade --json wrote"):
        return report_from(read_limited(path, MOST_BYTES), path.as_posix())


def report_from(text: bytes | str, name: str) -> ReportFile:
    """Read a report from its text; errors begin with `name`.

    Raises:
        CourseError: it is not such a report; it lists every problem.
    """
    try:
        report = from_json(ReportFile, text, name)
    except FormatError as error:
        if (version := _version_of(text)) not in (1, None):
            raise CourseError(
                f"{name} is a report of version {version}; this grader reads version 1: update it"
            ) from None
        raise CourseError(f"{name} is not a report that grade --json wrote", *error.problems) from None
    if problems := list(_impossible(report)):
        raise CourseError(f"{name} is not a report that grade --json wrote", *problems)
    return report


def _version_of(text: bytes | str) -> object:
    """The version that a report says it is of; None if it says nothing."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return plain.get("version") if isinstance(plain, dict) else None


def _impossible(report: ReportFile) -> Iterator[str]:
    """Scores that no grading makes: somebody wrote them by hand."""
    parts = [(exercise.id, exercise.score) for exercise in report.exercises]
    for name, score in [("score", report.score), *parts]:
        if min(score.earned, score.undecided) < 0 or score.earned + score.undecided > score.possible:
            yield f"{name}: {points_text(score.earned)} of {points_text(score.possible)} points cannot be earned"
    if vars(report.score) != vars(sum((score for _, score in parts), Score(0, 0))):
        yield "score: it is not the sum of the exercises' scores"


def line_of(row: GradedCheck, graded: GradedExercise) -> int | None:
    """The line of the student's file that a check is about: what raised, or the function that the rule is of."""
    place, check = graded.place, row.check
    if place is None:
        return None
    # The worker gives a module the exercise's file name, even if the submitted file has another.
    own = [graded.exercise.file_name] if Path(place.file).suffix == ".py" else []
    file = "|".join(map(re.escape, [Path(place.file).name, *own]))
    raised = re.findall(rf"^ {{4}}(?:.*/)?(?:{file}), line (\d{{1,9}})\b", row.outcome.message, re.MULTILINE)
    if raised and 1 <= int(raised[-1]) <= place.lines:
        return int(raised[-1])
    named = _NAMED.findall(f"{row.outcome.message}\n{graded.exercise.contract.get(check.contract, '')}")
    return next((place.names[name] for name in named if name in place.names), None)


def read_like(path: Path) -> tuple[ReportFile, int]:
    """The report of a run that is to be repeated, and its seed.

    Raises:
        CourseError: it is not a report, or its seed is a secret.
    """
    report = read_report(path)
    seed = report.environment.get("seed")
    if not isinstance(seed, int):
        raise CourseError(
            f"--like: the inputs of {path.as_posix()} come from a secret that no report contains. To repeat them, run "
            "grade batch into the same folder, or grade ci with the same secret"
        )
    return report, seed


def exercises_like(report: ReportFile, exercises: Sequence[Exercise]) -> list[Exercise]:
    """The exercises that a report has, as the course has them: a report decides about no limit.

    Raises:
        CourseError: it has none of them, or a limit that nothing can have.
    """
    then = {exercise.id for exercise in report.exercises}
    chosen = [exercise for exercise in exercises if exercise.id in then]
    if not chosen:
        raise CourseError(f"--like: that report lacks these exercises; it has {listed(sorted(then)) or 'none'}")
    return chosen


def differences(earlier: ReportFile, report: Report) -> Iterator[str]:
    """What differs between two runs, in sentences: the files, the machine, and each check with another verdict."""
    if earlier.digest != report.digest:
        yield "The files differ from those of that report, or other exercises were graded."
    now = vars(report.environment)
    for name in _COMPARED:
        if (before := earlier.environment.get(name)) != now[name]:
            yield f"{name}: {before} then, {now[name]} now"
    limits = {exercise.id: exercise.limits for exercise in earlier.exercises}
    for exercise in (graded.exercise for graded in report.exercises if graded.exercise.id in limits):
        for name, own in vars(exercise.limits).items():
            if (before := limits[exercise.id].get(name)) not in (None, own):
                yield f"{exercise.id}: the limit {name} was {before:.10g}, and is {own:.10g} now"
    then = {(item.id, row.id): row.verdict for item in earlier.exercises for row in item.checks}
    rows = [(graded.exercise.id, row) for graded in report.exercises for row in graded.checks]
    both = [(id, row, then[id, row.check.id]) for id, row in rows if (id, row.check.id) in then]
    others = [(id, row, verdict) for id, row, verdict in both if verdict is not row.outcome.verdict]
    for id, row, verdict in others:
        yield f"{id}, {row.check.title}: {verdict} then, {row.outcome.verdict} now"
    if not others:
        yield f"All {len(both)} checks that both runs have ended as they did then."
