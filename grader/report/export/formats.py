"""Reports in the formats of other programs. An exporter reads a report's JSON and nothing else.

A report becomes rows that other programs know: each check, and what stands for checks that did not run. The points of
all items of an exercise add up to those of the exercise, even if few ran.

- Gradescope's results.json has a test for each check. Students see hidden ones when grades are published. The score at
  the top is what was earned. A check that is undecided has no score, so that it looks neither right nor wrong, and says
  why, at the top, too. If nothing was decided, there is no score. `detail`, which is for staff, goes nowhere.
- PrairieLearn's results.json has a score from 0 to 1 of what was decided. What is our fault, or could not be decided,
  costs no attempt: the submission is then not gradable, and the message says why. So is one of which no file loads.
- GitHub Classroom was retired in August 2026; its reporter's actions still work where they are used. It knows no
  undecided points, so those checks are errors that say what they are.
- Classroom 50 knows whole numbers only: its scores are hundredths of a point for every report, so that a column
  never changes its scale.
- JUnit XML is as Jenkins' schema junit-10 has it and as GitLab reads it: a suite for each exercise, a case for a check.
  The schema has no points, and no properties of a case: those of an exercise are properties of its suite, those of a
  check stand in its output, after file and line. GitLab also reads the file, and not the line, as an attribute of a
  case, which the schema does not know, so it is written on GitLab alone. What is undecided is `skipped`: it must not
  turn a pipeline red.
- A CI job's log has a collapsed group for each exercise, and annotations at the student's lines. All student text goes
  through `safe.for_workflow`, so that no line of it is a command. The job's page in Markdown has a table, and for each
  exercise what to fix first, with a hint.

The tests hold each file against a schema of its platform.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from grader.model import Score, Verdict
from grader.model.errors import CourseError, GraderError
from grader.model.files import write_named
from grader.model.score import Causes, final_score_text, pluralize, points_text
from grader.report.safe import for_terminal, for_workflow
from grader.report.schema import CheckEntry, ExerciseEntry, ReportFile

_MOST_OUTPUT, _MOST_ALL, _MOST_MESSAGE = 8_000, 400_000, 500
_LARGEST = {
    "gradescope": 10_000_000,
    "prairielearn": 1_000_000,
    "classroom": 700_000,  # an output of a step may have a megabyte, and it is written there in base 64
    "classroom50": 700_000,
    "junit": 30_000_000,  # GitLab reads no larger file
}
"""So many bytes a platform takes; a larger file it refuses, or leaves the job without a result."""
_MOST_TEXT, _MOST_OF_A_MESSAGE = 4_000, 6_000
_LARGEST_PAGE = 900_000
"""GitHub drops a summary of more than a mebibyte."""
_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a kind for each step."""

Counted = Literal["passed", "lost", "undecided"]
"""How an item counts. Programs that have no word for what is undecided must not call it a failure."""


@dataclass(frozen=True)
class ReportItem:
    """A row of a report for another program: a check, or checks that did not run.

    Attributes:
        exercise: the exercise that it belongs to.
        id: unique in its exercise.
        title: one line, with its rule in front.
        verdict: a check's, or "not_started", "withheld", "left_out", "not_reached".
        kind: the way in which it counts.
        score: the score, in hundredths.
        text: the message for the student, or "".
        shown: True if students have the check.
        seconds: the seconds that it took, if students may know them.
        line: the line in the student's file, or None.
        is_cause: True if it is the one of its exercise to fix first.
        place: its index among the first failures of each function, the cause at 0; None for all others.
    """

    exercise: ExerciseEntry
    id: str
    title: str
    verdict: str
    kind: Counted
    score: Score
    text: str = ""
    shown: bool = True
    seconds: float = 0.0
    line: int | None = None
    is_cause: bool = False
    place: int | None = None

    @property
    def in_full(self) -> bool:
        """Return True if the item's message is shown in full: it is a function's first failure."""
        return self.place is not None

    @property
    def name(self) -> str:
        """Return the names of the exercise and of the item in one line, safe for a terminal.

        An example is "02-1 Double: C1 Returns a new tensor".
        """
        return for_terminal(f"{self.exercise.name}: {self.title}", one_line=True)


def items_of(report: ReportFile, *, points: bool = True) -> list[ReportItem]:
    """Return a report as rows for another program: a `ReportItem` for each check.

    They are in the order of the report. Checks that did not run for the same reason, such as the hidden checks of an
    exercise, have one item together.

    Args:
        report: the report.
        points: True if the texts of the items may mention points.
    """
    return [item for exercise in report.exercises for item in _items_of_exercise(exercise, points=points)]


def _items_of_exercise(exercise: ExerciseEntry, *, points: bool) -> Iterator[ReportItem]:
    """Yield a `ReportItem` for each check of an exercise, then for checks that did not run.

    For each reason why checks did not run, there is one item.

    Args:
        exercise: the exercise.
        points: True if the texts of the items may mention points.
    """
    causes = Causes.of([row.graded for row in exercise.checks])
    firsts = [*([causes.cause] if causes.cause else []), *causes.firsts]
    mistakes = _mistakes_by_check(exercise, [first.check.id for first in firsts])
    for row in exercise.checks:
        place = next((place for place, first in enumerate(firsts) if first is row.graded), None)
        item = _item_of_check(
            exercise, row, is_cause=row.graded is causes.cause, points=points, mistakes=mistakes.get(row.id, ())
        )
        yield replace(item, place=place)
    withheld, left_out = exercise.withheld, exercise.left_out
    if withheld.checks:
        what = f"{points_text(withheld.points)} points" if points else "more"
        text = f"{pluralize(withheld.checks, 'hidden check')} will decide {what} at hand-in"
        yield _undecided_item(exercise, "withheld", "Hidden checks", withheld.points, text, shown=False)
    if left_out.checks:
        text = f"{pluralize(left_out.checks, 'check')} did not run, because only others were chosen"
        yield _undecided_item(exercise, "left_out", "Checks left out", left_out.points, text)
    ran = sum(row.graded.score.possible for row in exercise.checks)
    rest = exercise.score.possible - ran - withheld.points - left_out.points
    if rest > 0:  # of an exercise of which no check was run, or some not yet
        if exercise.state == "not_started":
            text = "the file is the unchanged starter, or no file was handed in"
            yield ReportItem(exercise, "not_started", "Not started", "not_started", "lost", Score(0, rest), text)
        else:
            what = "these checks; their" if exercise.checks else "this exercise; its"
            text = f"grading ended before {what} points are neither earned nor lost"
            yield _undecided_item(exercise, "not_reached", "Not graded", rest, text)


def _mistakes_by_check(exercise: ExerciseEntry, firsts: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return which sentences on known mistakes are printed below a check, by the check's id.

    An example is `{"shape": ["This looks like: You add the wrong dim."]}`. A sentence is printed below the first
    failure that the mistake explains. A mistake that explains none of the first failures is printed below the cause:
    the check to fix first.

    Args:
        exercise: an exercise of a report.
        firsts: ids of the first failure of each function, the cause first.
    """
    below: dict[str, list[str]] = {id: [] for id in firsts}
    if not firsts:
        return below
    for mistake in exercise.mistakes:
        id = next((id for id in firsts if id in mistake.checks), None)
        lead = "This looks like: " if id else mistake.lead or "This looks like: "
        below[id or firsts[0]].append(f"{lead}{mistake.sentence}")
    if exercise.diagnosis and not exercise.mistakes:  # a report of a version that wrote one text for all
        below[firsts[0]].append(f"This looks like: {exercise.diagnosis}")
    return below


def _undecided_item(
    exercise: ExerciseEntry, id: str, title: str, worth: int, text: str, *, shown: bool = True
) -> ReportItem:
    """Return one item for checks that did not run, with all of their points undecided.

    Args:
        exercise: the exercise of the checks.
        id: the reason why they did not run, such as "withheld", which is both the id and the verdict of the item.
        title: the title of the item.
        worth: the points of the checks, in hundredths.
        text: the message for the student.
        shown: True if students have the checks.
    """
    return ReportItem(exercise, id, title, id, "undecided", Score(0, worth, worth), text, shown)


def _item_of_check(
    exercise: ExerciseEntry, row: CheckEntry, *, is_cause: bool, points: bool, mistakes: Sequence[str] = ()
) -> ReportItem:
    """Return a check as a `ReportItem`, with its title, score and message.

    Args:
        exercise: the exercise that the check belongs to.
        row: the check.
        is_cause: True if the check is the one of its exercise to fix first.
        points: True if the text of the item may mention points.
        mistakes: sentences on known mistakes, which follow the message of the check.
    """
    verdict, score, text = row.graded.verdict, row.graded.score, row.message
    kind: Counted = "passed" if verdict is Verdict.PASSED else "lost" if verdict.is_decided else "undecided"
    if row.set_by:
        text = f"{row.set_by}\n{text}".strip()
    text = "\n".join([*([text] if text else []), *mistakes])
    if points and exercise.held_back_text and (is_cause or row.held_back):
        text = f"{text}\n{exercise.held_back_text}".strip()
    if kind == "undecided":
        word = verdict.value.replace("_", " ")
        what = f"{points_text(score.possible)} points are" if points else "this is"
        text = f"{word}: {what} neither earned nor lost\n{text}".strip()
    title, seconds = f"{row.contract} {row.title}".strip(), max(0.0, row.seconds or 0.0)
    return ReportItem(exercise, row.id, title, verdict.value, kind, score, text, row.shown, seconds, row.line, is_cause)


def why_undecided(items: Sequence[ReportItem]) -> str:
    """Return why points are undecided, each reason in a line; "" if all are decided.

    A line is like "02-1 Double: 3 hidden checks will decide 2 points at hand-in". Hidden checks are not named.
    """
    reasons = dict.fromkeys(f"{item.exercise.name}: {item.text}" for item in items if item.kind == "undecided")
    return "\n".join(reasons)


def final_points_text(report: ReportFile) -> str:
    """Return a line with the points that count and the undecided points.

    An example is "8.5 of 10 points; 1 more are undecided, neither earned nor lost". Late days and other rules of the
    hand-in have been applied.
    """
    return final_score_text(report.final_score, report.policy)


Visibility = Literal["hidden", "after_due_date", "after_published", "visible"]
"""When students see a test, in Gradescope's words."""


@dataclass(frozen=True)
class Options:
    """The facts that a report does not have, and some formats need.

    Attributes:
        environ: the environment, in which platforms tell what is graded.
        points: True if points are shown: what a public repository's workflow prints is public.
        hidden: the time from which students see hidden checks, where a platform lets one choose.
        folder: the folder of the submission, from the root of the repository; None if it lies outside.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    points: bool = True
    hidden: Visibility = "after_published"
    folder: str | None = ""

    def path_of(self, file: str | None) -> str | None:
        """Return a file of the submission as a path from the root of the repository.

        If `folder` is "hw1", `double.py` becomes `hw1/double.py`. Return None without a file, or if the folder lies
        outside of the repository.
        """
        if file is None or self.folder is None:
            return None
        return f"{self.folder}/{file}" if self.folder else file


def cut_text(text: str, most: int) -> str:
    """Cut a text that has more than `most` characters, if possible at the end of a line.

    A further line then says how many characters were cut off, such as "(120 more characters)".
    """
    if len(text) <= most:
        return text
    beginning = text[:most].rpartition("\n")[0] or text[:most]
    return f"{beginning}\n({len(text) - len(beginning)} more characters)"


def json_points(hundredths: int) -> float | int:
    """Return hundredths as points for JSON: 250 becomes 2.5, and 200 becomes the int 2."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


_STATUS = {"passed": "pass", "lost": "fail", "undecided": "error"}


def _json_text(made: Mapping[str, Any]) -> str:
    return json.dumps(made, indent=1, allow_nan=False) + "\n"


def gradescope(report: ReportFile, options: Options) -> str:
    """Return the report as the results.json of Gradescope."""
    total = report.final_score
    # The total itself is Gradescope's to show: it hides it from students while hidden checks are.
    top = [f"{report.course}. Grader {report.environment.get('grader')}, torch {report.environment.get('torch')}."]
    items = items_of(report)
    if total.undecided:
        top.append(f"{json_points(total.undecided)} points are undecided: neither earned nor lost.")
        top.append(why_undecided(items))
    extra = {
        "undecided": json_points(total.undecided),
        "possible": json_points(total.possible),
        "digest": report.digest,
    }
    made = {
        **({"score": json_points(total.earned)} if total.undecided < total.possible else {}),
        "output": cut_text(for_terminal("\n".join(top)), _MOST_OUTPUT),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_gradescope_test(item, place, options) for place, item in enumerate(items, 1)],
        "extra_data": extra,
    }
    return _json_text(made)


def _gradescope_test(item: ReportItem, place: int, options: Options) -> dict[str, Any]:
    """Return an item as a test of Gradescope's results.json.

    A test of an undecided item has no score.

    Args:
        item: the item.
        place: the position of the item in the report, from 1, which numbers a test of an exercise without a number.
        options: the options of the formats.
    """
    decided = {
        "score": json_points(item.score.earned),
        "max_score": json_points(item.score.possible),
        "status": "passed" if item.kind == "passed" else "failed",
    }
    return {
        "name": item.name or item.id,
        "name_format": "text",
        "number": item.exercise.number or str(place),
        **(decided if item.kind != "undecided" else {}),
        "output": cut_text(for_terminal(item.text), _MOST_OUTPUT),
        "output_format": "text",
        "visibility": "visible" if item.shown else options.hidden,
    }


def prairielearn(report: ReportFile, options: Options) -> str:
    """Return the report as the results.json of PrairieLearn."""
    items = items_of(report)
    total = report.final_score
    decided = total.possible - total.undecided
    faulty = any(item.verdict in ("broken", "inconclusive", "not_reached") for item in items)
    unread = _load_failures(items)
    gradable = bool(decided) and not faulty and not unread
    message = final_points_text(report)
    if faulty or not decided:
        message += ". This cannot be graded now, and costs no attempt; submit it again, or ask your instructor:\n"
        message = cut_text(for_terminal(message + why_undecided(items)), _MOST_OUTPUT)
    share = {"score": round(min(1.0, max(0.0, total.earned / decided)), 6)} if gradable else {}
    most = min(_MOST_OUTPUT, _MOST_ALL // max(1, len(items)))
    tests = [
        {
            "name": item.name,
            "description": "",
            "points": json_points(item.score.earned),
            "max_points": json_points(item.score.possible),
            "message": cut_text(for_terminal(item.text), most),
        }
        for item in items
        if item.kind != "undecided"
    ]
    # PrairieLearn shows a format error as one paragraph, and an output as it is: code keeps its lines there alone.
    errors = (
        {"format_errors": [text.split("\n")[0] for text in unread], "output": "\n\n".join(unread)} if unread else {}
    )
    made = {"gradable": gradable, **share, "message": message, **errors, "tests": tests}
    return _json_text(made)


def _load_failures(items: list[ReportItem]) -> list[str]:
    """Return why no file of the submission loads, each reason once; [] if a file loads."""
    graded = [item for item in items if item.kind != "undecided" and item.verdict != "not_started"]
    causes = [row.cause for item in graded for row in item.exercise.checks if row.id == item.id]
    if not causes or any(cause != "load" for cause in causes):
        return []
    return list(dict.fromkeys(cut_text(for_terminal(item.text), _MOST_OUTPUT) for item in graded))


def classroom(report: ReportFile, options: Options) -> str:
    """Return the report as the JSON that GitHub Classroom's reporter reads.

    The reporter reads it in base 64, in which a step of the workflow encodes it.
    """
    items = items_of(report)
    kinds = {item.kind for item in items}
    tests = [
        {
            "name": item.name,
            "status": _STATUS[item.kind],
            "score": json_points(item.score.earned),
            "message": cut_text(for_terminal(item.text), _MOST_MESSAGE),
            "test_code": "",
            "filename": for_terminal(item.exercise.file or "", one_line=True),
            "line_no": item.line or 0,
            "duration": round(item.seconds, 3),
        }
        for item in items
    ]
    made = {
        "version": 3,
        "status": "fail" if "lost" in kinds else "error" if "undecided" in kinds else "pass",
        "max_score": json_points(report.final_score.possible),
        "message": final_points_text(report),
        "tests": tests,
    }
    return _json_text(made)


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d")
_NAMES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
"""Each key of the result that names the submission, and the variable in which Classroom 50's runner gives it."""


def classroom50(report: ReportFile, options: Options) -> str:
    """Return the report as Classroom 50's result.json.

    Scores are hundredths of a point.

    Raises:
        CourseError: the variables that its runner sets are missing, or the report does not say when it was made.
    """
    environ = options.environ
    named = {key: environ.get(name, "") for key, name in _NAMES.items()}
    named["owner"] = named["owner"] or environ.get("USERNAME", "")
    missing = [_NAMES[key] for key, value in named.items() if not value]
    if missing or not named["submission"].startswith("submit/"):
        names = ", ".join(missing) or "SUBMISSION_TAG, which begins with submit/"
        raise CourseError(f"--format classroom50: set {names} in the environment, as its runner does")
    at = report.graded_at[:19]
    if not _INSTANT.fullmatch(at):
        raise CourseError(f"--format classroom50: the report's time of grading, {report.graded_at!r}, is not a time")
    made = {
        "schema": "classroom50/result/v1",
        **named,
        "assignment_type": "group" if environ.get("ASSIGNMENT_TYPE") == "group" else "individual",
        "review": environ.get("REVIEW_URL") or named["commit"],
        "datetime": f"{at}Z",  # the runner puts the commit's own time in its place
        "graded_at": f"{at}Z",
        "score": report.final_score.earned,
        "max-score": report.final_score.possible,
        "tests": [_classroom50_test(item) for item in items_of(report)],
    }
    return _json_text(made)


def _classroom50_test(item: ReportItem) -> dict[str, Any]:
    points = f"{json_points(item.score.earned)} of {json_points(item.score.possible)} points, here in hundredths"
    return {
        "test-name": item.name,
        "passed": item.kind == "passed",
        "score": item.score.earned,
        "max-score": item.score.possible,
        "message": cut_text(for_terminal(f"{points}\n{item.text}".strip()), _MOST_MESSAGE),
        "verdict": item.verdict,
    }


def junit(report: ReportFile, options: Options) -> str:
    """Return the report as JUnit XML."""
    return _render("junit.xml", report, options) + "\n"


def log(report: ReportFile, options: Options, system: str = "") -> str:
    """Return the report as lines for the log of a job.

    Args:
        report: the report that is written.
        options: the options of the formats.
        system: "github" for groups and annotations, "gitlab" for collapsed sections, "" for plain lines.
    """
    seconds, most = int(time.time()), _MOST_ANNOTATIONS
    return _render("log.txt", report, options, system=system, seconds=seconds, most=most)


def log_line(text: str) -> str:
    """Return a text as one line of a log, in a form that no CI system takes for a command."""
    return for_workflow(for_terminal(text, one_line=True))


def _render(template: str, report: ReportFile, options: Options, most_text: int = _MOST_TEXT, **values: object) -> str:
    from grader.report.html import render_template  # jinja2, which few commands need

    items, total = items_of(report, points=options.points), final_points_text(report)
    shortened = partial(cut_text, most=most_text)
    return render_template(template, report=report, options=options, items=items, total=total, cut=shortened, **values)


def codequality(report: ReportFile, options: Options) -> str:
    """Return the report as GitLab's Code Quality report.

    It has the check to fix first in each exercise, at the student's line.
    """
    rows = []
    for item in items_of(report, points=options.points):
        if (file := options.path_of(item.exercise.file)) and item.is_cause:
            name = f"{item.exercise.id}/{item.id}"
            rows.append(
                {
                    "description": for_terminal(cut_text(f"{item.title}\n{item.text}".strip(), _MOST_TEXT)),
                    "check_name": for_terminal(name, one_line=True),
                    "fingerprint": hashlib.sha256(f"{file}\0{name}".encode("utf-8", "backslashreplace")).hexdigest(),
                    "severity": "major",
                    "location": {"path": for_terminal(file, one_line=True), "lines": {"begin": item.line or 1}},
                }
            )
    return json.dumps(rows, indent=1) + "\n"


def markdown(report: ReportFile, options: Options) -> str:
    """Return the report as Markdown, with the first failure of each function.

    It has fewer of these failures if the text would be too large for GitHub.
    """
    firsts = [item for item in items_of(report, points=options.points) if item.place is not None]
    order = {exercise.id: number for number, exercise in enumerate(report.exercises)}
    firsts.sort(key=lambda item: (order[item.exercise.id], item.place))
    shown = len(firsts)
    while True:
        text = _render("summary.md", report, options, _MOST_OF_A_MESSAGE, causes=firsts, shown=shown)
        if not shown or len(text.encode("utf-8")) <= _LARGEST_PAGE:
            return text
        shown //= 2


FORMATS: Mapping[str, Callable[[ReportFile, Options], str]] = {
    "junit": junit,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom": classroom,
    "classroom50": classroom50,
    "codequality": codequality,
    "markdown": markdown,
    "github": partial(log, system="github"),
    "gitlab": partial(log, system="gitlab"),
    "log": log,
}
"""What each makes of a report; the last three are lines for a job's log."""

OF_POINTS = ("gradescope", "prairielearn", "classroom", "classroom50")
"""The formats that consist of points, and cannot be written without them."""


def write_format(name: str, place: str, report: ReportFile, options: Options) -> None:
    """Write a report to a file in the format of another program.

    Args:
        name: the name of the format.
        place: the path of the file; `-` is standard output.
        report: the report that is written.
        options: the options of the formats.

    Raises:
        CourseError: no file can be written there, the environment lacks what the format needs, or it would show points
            that must not be shown.
        GraderError: the text is larger than its platform takes.
    """
    if name in OF_POINTS and not options.points:
        raise CourseError(f"{name}: this format consists of points, which --no-points leaves out; write another one")
    text = FORMATS[name](report, options)
    if (most := _LARGEST.get(name)) and len(text.encode("utf-8")) > most:
        raise GraderError(f"--format {name}: the file would have more than {most:,} bytes, which its platform refuses")
    write_named(place, text, f"--format {name}")
