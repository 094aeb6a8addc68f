"""The report's JSON, version 1. These types are its only declaration: for writing, for reading, for all exporters.

Other programs rely on the names and the order of the keys: add keys, never rename them. The reader ignores keys that it
does not know. Points are numbers with at most two decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import AfterValidator, Field, GetPydanticSchema, PlainSerializer

from grader.model import (
    Check,
    FinalScore,
    GradedCheck,
    GradedExercise,
    LineComment,
    Mistake,
    Outcome,
    Picture,
    Report,
    Score,
    Speed,
    Verdict,
)
from grader.model.files import adapter, to_json
from grader.model.report import score_after_policy
from grader.model.score import function_of, held_back_text, in_points
from grader.report.student_line import line_of
from grader.report.words import diagnosis_text, explains

Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
_InFile = Annotated[Number, AfterValidator(lambda points: round(100 * points)), PlainSerializer(in_points)]
Points = Annotated[int, GetPydanticSchema(lambda _, handler: handler(_InFile))]
"""Hundredths of a point, which are points in the file."""

MOST_BYTES = 64 << 20
"""A report of a hundred exercises has about one."""

Entry = TypeVar("Entry")


def _make_entry(kind: type[Entry], *sources: object, **others: object) -> Entry:
    """Make an entry, an object of the report's JSON, from attributes of several objects.

    A field `score` takes the attribute `score` of the first object that has one.

    Args:
        kind: the type of the entry.
        *sources: the objects.
        **others: the fields that do not come from the objects.
    """
    for key in (one.name for one in fields(cast("Any", kind)) if one.name not in others):
        others[key] = next(getattr(source, key) for source in sources if hasattr(source, key))
    return kind(**others)


@dataclass(frozen=True, kw_only=True)
class ScoreEntry(Score):
    """A score. Points that are neither earned nor undecided are lost."""

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
    function: str = ""

    @classmethod
    def of(cls, row: GradedCheck, graded: GradedExercise, *, staff: bool) -> Self:
        """Make the entry for a graded check in the report's JSON.

        Args:
            row: the check.
            graded: its exercise.
            staff: True if it has what only staff may read.
        """
        detail = row.outcome.detail if staff or row.check.shown else ""
        others = {
            "verdict": row.outcome.verdict,
            "detail": detail,
            "line": line_of(row, graded),
            "function": function_of(row),
        }
        # The outcome before the check: both have a device, and the report has the one that student code saw.
        return _make_entry(cls, row, row.score, row.outcome, row.check, **others)

    @cached_property
    def graded(self) -> GradedCheck:
        """Return the check as a `GradedCheck`, for functions that take one, such as `Causes.of`.

        It lacks what the report does not have.
        """
        score = Score(self.earned, self.possible, 0 if self.verdict.is_decided or self.set_by else self.possible)
        check = Check(self.id, "", self.title, self.contract, self.category, shown=self.shown)
        called = (self.function,) if self.function else ()
        seconds = self.seconds or 0.0
        outcome = Outcome(self.id, self.verdict, self.message, self.detail, seconds, cause=self.cause, called=called)
        return GradedCheck(check, outcome, score, self.held_back, self.set_by)


@dataclass(frozen=True, kw_only=True)
class MistakeEntry(Mistake):
    """A known mistake that an exercise shows. `checks` are the ids of those below which its sentence belongs."""

    @classmethod
    def of(cls, mistake: Mistake, graded: GradedExercise) -> Self:
        """Make the entry for a known mistake of a graded exercise in the report's JSON."""
        shown_by = tuple(row.check.id for row in graded.checks if explains(mistake, row))
        return _make_entry(cls, mistake, checks=shown_by)


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
    mistakes: tuple[MistakeEntry, ...] = ()
    hints: tuple[str, ...] = ()
    limits: Mapping[str, Number] = field(default_factory=dict)
    output: str = ""
    checks: tuple[CheckEntry, ...]
    set_by: str = ""
    comments: tuple[LineComment, ...] = ()

    @classmethod
    def of(cls, graded: GradedExercise, *, staff: bool) -> Self:
        """Make the entry for a graded exercise in the report's JSON."""
        exercise = graded.exercise
        return _make_entry(
            cls,
            graded,
            exercise,
            file=graded.place.file if graded.place else None,
            diagnosis=diagnosis_text(graded) or None,
            mistakes=tuple(MistakeEntry.of(mistake, graded) for mistake in graded.mistakes),
            score=_make_entry(ScoreEntry, graded.score),
            withheld=PartEntry(checks=exercise.withheld.checks, points=graded.withheld_points),
            left_out=PartEntry(checks=len(graded.left_out), points=graded.left_out_score.possible),
            limits=vars(exercise.limits),
            checks=tuple(CheckEntry.of(row, graded, staff=staff) for row in graded.checks),
        )

    @property
    def name(self) -> str:
        """Return the number and the title of the exercise in one text."""
        return f"{self.number} {self.title}".strip()

    @property
    def is_blank(self) -> bool:
        """Return True if the exercise has no results, so that a page lists only its name."""
        return self.state == "not_started" and not self.checks

    @property
    def held_back_text(self) -> str:
        """Return a sentence on why earned points do not count; "" if all of them count."""
        return held_back_text(sum(row.held_back for row in self.checks), self.held_by)


@dataclass(frozen=True, kw_only=True)
class FinalEntry(FinalScore):
    """The score that counts; `final` is null while points are undecided, `late_days` if nothing says them."""

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
        """Make a `ReportFile`, which can be written as JSON, of a report.

        Args:
            report: the report.
            staff: True if only staff reads it. `detail` then says what hidden checks compare.
        """
        return _make_entry(
            cls,
            report,
            version=1,
            authors=report.authors or (report.author,),
            score=_make_entry(ScoreEntry, report.score),
            policy=_make_entry(FinalEntry, report.policy) if report.policy else None,
            exercises=tuple(ExerciseEntry.of(graded, staff=staff) for graded in report.exercises),
            environment=vars(report.environment),
        )

    @property
    def final_score(self) -> Score:
        """Return the score that counts: after late days, staff's decisions and dropped exercises.

        See `grader.model.report.score_after_policy`.
        """
        return score_after_policy({exercise.id: exercise.score for exercise in self.exercises}, self.policy)

    @property
    def members(self) -> tuple[str, ...]:
        """Return the names of the authors: the members of a group, or the one author."""
        return self.authors or (self.author,)


def report_json(report: Report, *, staff: bool = False, indent: int | None = 1) -> bytes:
    """Return a report as the JSON that `grade --json` writes; see `ReportFile.of`.

    Args:
        report: the report that is written.
        staff: True if it has what only staff may read.
        indent: the indentation of the JSON; None for one line, which takes a tenth of the time.
    """
    return to_json(adapter(ReportFile).dump_python(ReportFile.of(report, staff=staff)), indent) + b"\n"
