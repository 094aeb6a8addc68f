"""The two classrooms on GitHub: what the reporter of GitHub Classroom reads, and Classroom 50's result.json.

GitHub Classroom was retired in August 2026; its reporter's actions still work for whoever has them. It knows no
undecided points, so those checks are errors that say what they are. Classroom 50 knows whole numbers only: its scores
are hundredths of a point, whatever the report, so that a column never changes its scale.
"""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from grader.model.errors import CourseError
from grader.report.export.checked import Options, Shape, as_text, cut, number
from grader.report.export.items import Item, Kind, items_of, total_text
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

_LARGEST = 700_000
"""An output of a step may have a megabyte, and it is written there in base 64."""
_MOST_TEXT = 500


class _Test(Shape):
    name: str
    status: Literal["pass", "fail", "error"]
    score: float | int
    message: str
    test_code: str = ""
    filename: str
    line_no: int
    duration: float


class _Run(Shape):
    version: Literal[3] = 3
    status: Literal["pass", "fail", "error"]
    max_score: float | int
    message: str
    tests: tuple[_Test, ...]


def classroom(report: ReportFile, options: Options) -> str:
    """The report as the JSON object that a step hands to the reporter, once it is in base 64."""
    items = items_of(report)
    kinds = {item.kind for item in items}
    made = _Run(
        status="fail" if Kind.LOST in kinds else "error" if Kind.OPEN in kinds else "pass",
        max_score=number(report.score.exact.possible),
        message=total_text(report),
        tests=tuple(_classroom_test(item) for item in items),
    )
    return as_text("GitHub Classroom", made, _LARGEST)


def in_base64(text: str) -> str:
    """What the step's output `result` is set to."""
    return base64.b64encode(text.encode("utf-8")).decode("ascii")


def _classroom_test(item: Item) -> _Test:
    words: dict[Kind, Literal["pass", "fail", "error"]] = {Kind.PASSED: "pass", Kind.LOST: "fail", Kind.OPEN: "error"}
    return _Test(
        name=for_terminal(f"{item.exercise.name}: {item.title}", one_line=True),
        status=words[item.kind],
        score=number(item.score.earned),
        message=cut(for_terminal(item.text), _MOST_TEXT),
        filename=for_terminal(item.exercise.file or "", one_line=True),
        line_no=item.line or 0,
        duration=round(item.seconds, 3),
    )


# ---------------------------------------------------------------------------------------------------- Classroom 50

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
    return as_text("Classroom 50", made, _LARGEST)


def _test50(item: Item) -> _Test50:
    points = f"{number(item.score.earned)} of {number(item.score.possible)} points, here in hundredths"
    return _Test50(
        name=for_terminal(f"{item.exercise.name}: {item.title}", one_line=True),
        passed=item.kind is Kind.PASSED,
        score=item.score.earned,
        max_score=item.score.possible,
        message=cut(for_terminal(f"{points}\n{item.text}".strip()), _MOST_TEXT),
        verdict=item.verdict,
    )
