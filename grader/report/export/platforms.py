"""JSON files of teaching platforms: Gradescope, PrairieLearn, GitHub Classroom, Classroom 50.

- Gradescope's results.json has a test for each check. Students see hidden ones when grades are published. The score at
  the top is what was earned. A check that is undecided has no score, so that it looks neither right nor wrong, and says
  why. `detail`, which is for staff, goes nowhere.
- PrairieLearn's results.json has a score from 0 to 1 of what was decided. What is our fault, or could not be decided,
  costs no attempt: the submission is then not gradable. So is one of which no file loads.
- GitHub Classroom was retired in August 2026; its reporter's actions still work for whoever has them. It knows no
  undecided points, so those checks are errors that say what they are.
- Classroom 50 knows whole numbers only: its scores are hundredths of a point, whatever the report, so that a column
  never changes its scale.

Each model refuses what its platform would refuse, before anything is written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from grader.model.errors import CourseError
from grader.report.export.items import Item, Kind, Options, Visibility, cut, items_of, number, too_large, total_text
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

_GRADESCOPE_LARGEST, _PRAIRIE_LARGEST = 10_000_000, 1_000_000
_CLASSROOM_LARGEST = 700_000
"""An output of a step may have a megabyte, and it is written there in base 64."""
_MOST_OUTPUT, _MOST_ALL = 8_000, 400_000
_MOST_MESSAGE = 500

_WORDS: Mapping[Kind, Literal["pass", "fail", "error"]] = {
    Kind.PASSED: "pass",
    Kind.LOST: "fail",
    Kind.OPEN: "error",
}


class Shape(BaseModel):
    """Part of a platform's file: its keys and values are checked as it is made, and nothing else gets in."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


def _as_text(name: str, made: Shape, largest: int) -> str:
    """A platform's JSON file; keys without a value are left out.

    Raises:
        GraderError: it is larger than the platform takes.
    """
    plain = made.model_dump(mode="json", by_alias=True, exclude_none=True)
    return too_large(name, json.dumps(plain, indent=1, ensure_ascii=True) + "\n", largest)


class _GradescopeTest(Shape):
    name: str = Field(min_length=1)
    name_format: Literal["text"] = "text"
    number: str
    score: float | int | None = None
    max_score: float | int | None = None
    status: Literal["passed", "failed"] | None = None
    output: str
    output_format: Literal["text"] = "text"
    visibility: Visibility


class _GradescopeResults(Shape):
    score: float | int
    output: str
    output_format: Literal["text"] = "text"
    stdout_visibility: Literal["hidden"] = "hidden"
    tests: tuple[_GradescopeTest, ...]
    extra_data: Mapping[str, str | float | int]


def gradescope(report: ReportFile, options: Options) -> str:
    """The report as results.json."""
    tests = tuple(_gradescope_test(item, place, options.hidden) for place, item in enumerate(items_of(report), 1))
    total = report.score.exact
    extra = {"undecided": number(total.undecided), "possible": number(total.possible), "digest": report.digest}
    made = _GradescopeResults(score=number(total.earned), output=_gradescope_top(report), tests=tests, extra_data=extra)
    return _as_text("Gradescope", made, _GRADESCOPE_LARGEST)


def _gradescope_top(report: ReportFile) -> str:
    # The total itself is Gradescope's to show: it hides it from students while hidden checks are.
    lines = [f"{report.course}. Grader {report.environment.get('grader')}, torch {report.environment.get('torch')}."]
    if report.score.exact.undecided:
        lines.append(f"{number(report.score.exact.undecided)} points are undecided: neither earned nor lost.")
    return for_terminal("\n".join(lines))


def _gradescope_test(item: Item, place: int, hidden: Visibility) -> _GradescopeTest:
    score, decided = item.score, item.kind is not Kind.OPEN
    passed = item.kind is Kind.PASSED
    return _GradescopeTest(
        name=item.name or item.id,
        number=item.exercise.number or str(place),
        score=number(score.earned) if decided else None,
        max_score=number(score.possible) if decided else None,
        status=None if not decided else "passed" if passed else "failed",
        output=cut(for_terminal(item.text), _MOST_OUTPUT),
        visibility="visible" if item.shown else hidden,
    )


class _PrairieTest(Shape):
    name: str
    description: str = ""
    points: float | int
    max_points: float | int
    message: str = ""


class _PrairieResults(Shape):
    gradable: bool
    score: float | None = Field(None, ge=0, le=1)
    message: str
    format_errors: tuple[str, ...] | None = None
    tests: tuple[_PrairieTest, ...]


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
        message += ". Something could not be decided, through no fault of yours: this costs no attempt; send it again"
    most = min(_MOST_OUTPUT, _MOST_ALL // max(1, len(items)))
    made = _PrairieResults(
        gradable=gradable,
        score=round(min(1.0, max(0.0, total.earned / decided)), 6) if gradable else None,
        message=message,
        format_errors=unread or None,
        tests=tuple(_prairie_test(item, most) for item in items if item.kind is not Kind.OPEN),
    )
    return _as_text("PrairieLearn", made, _PRAIRIE_LARGEST)


def _unread(items: list[Item]) -> tuple[str, ...]:
    """Why no file loads; nothing if one does."""
    graded = [item for item in items if item.kind is not Kind.OPEN and item.verdict != "not_started"]
    causes = [row.cause for item in graded for row in item.exercise.checks if row.id == item.id]
    if not causes or any(cause != "load" for cause in causes):
        return ()
    return tuple(dict.fromkeys(cut(for_terminal(item.text), _MOST_OUTPUT) for item in graded))


def _prairie_test(item: Item, most: int) -> _PrairieTest:
    return _PrairieTest(
        name=item.name,
        points=number(item.score.earned),
        max_points=number(item.score.possible),
        message=cut(for_terminal(item.text), most),
    )


class _ClassroomTest(Shape):
    name: str
    status: Literal["pass", "fail", "error"]
    score: float | int
    message: str
    test_code: str = ""
    filename: str
    line_no: int
    duration: float


class _ClassroomRun(Shape):
    version: Literal[3] = 3
    status: Literal["pass", "fail", "error"]
    max_score: float | int
    message: str
    tests: tuple[_ClassroomTest, ...]


def classroom(report: ReportFile, options: Options) -> str:
    """The report as the JSON object that a step hands to the reporter, once it is in base 64."""
    items = items_of(report)
    kinds = {item.kind for item in items}
    made = _ClassroomRun(
        status="fail" if Kind.LOST in kinds else "error" if Kind.OPEN in kinds else "pass",
        max_score=number(report.score.exact.possible),
        message=total_text(report),
        tests=tuple(_classroom_test(item) for item in items),
    )
    return _as_text("GitHub Classroom", made, _CLASSROOM_LARGEST)


def in_base64(text: str) -> str:
    """What the step's output `result` is set to."""
    return base64.b64encode(text.encode("utf-8")).decode("ascii")


def _classroom_test(item: Item) -> _ClassroomTest:
    return _ClassroomTest(
        name=item.name,
        status=_WORDS[item.kind],
        score=number(item.score.earned),
        message=cut(for_terminal(item.text), _MOST_MESSAGE),
        filename=for_terminal(item.exercise.file or "", one_line=True),
        line_no=item.line or 0,
        duration=round(item.seconds, 3),
    )


_Text = Annotated[str, StringConstraints(min_length=1)]
_Instant = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$")]
_Whole = Annotated[int, Field(ge=0)]

_NAMES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
"""Each key of the result that names the submission, and the variable in which Classroom 50's runner gives it."""


class _Test50(Shape):
    name: _Text = Field(serialization_alias="test-name")
    passed: bool
    score: _Whole
    max_score: _Whole = Field(serialization_alias="max-score")
    message: str
    verdict: str


class _Result50(Shape):
    schema_: Literal["classroom50/result/v1"] = Field(serialization_alias="schema")
    classroom: _Text
    assignment: _Text
    assignment_type: Literal["individual", "group"]
    owner: _Text
    submission: Annotated[str, StringConstraints(pattern="^submit/")]
    commit: _Text
    release: _Text
    review: _Text
    datetime: _Instant
    graded_at: _Instant
    score: _Whole
    max_score: _Whole = Field(serialization_alias="max-score")
    tests: tuple[_Test50, ...]


def classroom50(report: ReportFile, options: Options) -> str:
    """The report as Classroom 50's result.json; scores are hundredths of a point.

    Raises:
        CourseError: the variables that its runner sets are not there.
    """
    environ = options.environ
    found = {key: environ.get(name, "") for key, name in _NAMES.items()}
    found["owner"] = found["owner"] or environ.get("USERNAME", "")
    missing = [_NAMES[key] for key, value in found.items() if not value]
    if missing or not found["submission"].startswith("submit/"):
        names = ", ".join(missing) or "SUBMISSION_TAG, which begins with submit/"
        raise CourseError(f"--format classroom50: its runner sets {names} in the environment, which is not so here")
    at = report.graded_at[:19] + "Z"
    made = _Result50(
        schema_="classroom50/result/v1",
        classroom=found["classroom"],
        assignment=found["assignment"],
        assignment_type="group" if environ.get("ASSIGNMENT_TYPE") == "group" else "individual",
        owner=found["owner"],
        submission=found["submission"],
        commit=found["commit"],
        release=found["release"],
        review=environ.get("REVIEW_URL") or found["commit"],
        datetime=at,  # the runner puts the commit's own time in its place
        graded_at=at,
        score=report.score.exact.earned,
        max_score=report.score.exact.possible,
        tests=tuple(_test50(item) for item in items_of(report)),
    )
    return _as_text("Classroom 50", made, _CLASSROOM_LARGEST)


def _test50(item: Item) -> _Test50:
    points = f"{number(item.score.earned)} of {number(item.score.possible)} points, here in hundredths"
    return _Test50(
        name=item.name,
        passed=item.kind is Kind.PASSED,
        score=item.score.earned,
        max_score=item.score.possible,
        message=cut(for_terminal(f"{points}\n{item.text}".strip()), _MOST_MESSAGE),
        verdict=item.verdict,
    )
