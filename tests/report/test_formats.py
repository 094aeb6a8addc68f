"""A report of every verdict in each format: valid by the platform's rules, and student text in it stays text."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema
from batch.pretend import PretendClass
from hypothesis import given, settings
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from report.test_safe import TEXTS

from grader.model import Course, Verdict
from grader.model.errors import CourseError, GraderError
from grader.model.files import schema_of
from grader.report.export.formats import FORMATS, OF_POINTS, Options, items_of, write_format
from grader.report.read import read_report, report_from
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile

pytestmark = pytest.mark.lane

SCHEMAS = Path(__file__).parents[1] / "schemas"
JUNIT = xmlschema.XMLSchema(str(SCHEMAS / "junit.xsd"))
VALIDATORS = {
    path.stem: jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8"))) for path in SCHEMAS.glob("*.json")
}
# What Classroom 50's runner sets.
RUNNER = {
    "CLASSROOM": "ml",
    "ASSIGNMENT": "week1",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
}
URLS = {"COMMIT_URL": "https://example.invalid/c", "RELEASE_URL": "https://example.invalid/r"}
OPTIONS = Options(environ=RUNNER | URLS)
UNDECIDED = [verdict for verdict in Verdict if not verdict.is_decided]

FUZZ = settings(derandomize=True, database=None, deadline=None, max_examples=30)


def words_in(value: Any) -> Iterator[str]:
    """Every string of JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from words_in(part)


def points(earned: float, possible: float, undecided: float = 0) -> dict[str, float]:
    return {"earned": earned, "possible": possible, "undecided": undecided}


def plain_report(text: str = "it is wrong", **more: Any) -> dict[str, Any]:
    """A report's JSON with a check of every verdict, shown and hidden, and exercises of which none ran."""
    checks = [
        {
            "id": f"{verdict.value}_{shown}",
            "title": f"Title {text}",
            "contract": "C2",
            "category": "correctness",
            "shown": shown,
            "verdict": verdict.value,
            "earned": 1.3 if verdict is Verdict.PASSED else 0,
            "possible": 1.3,
            "message": "" if verdict is Verdict.PASSED else text,
            "detail": "secret of staff",
            "seconds": 0.25,
            "cause": "values" if verdict.is_decided else "",
            "line": 7,
        }
        for verdict in Verdict
        for shown in (True, False)
    ]
    whole, undecided = round(1.3 * len(checks), 2), round(2.6 * len(UNDECIDED), 2)
    common = {"module": "01_basics", "file": "exercises/double.py", "hints": [f"look {text}"], "output": text}
    exercises = [
        {"id": "double", "number": "01-1", "title": f"Double {text}", "state": "started", "checks": checks}
        | common
        | {"score": points(2.6, whole + 5, undecided + 5), "diagnosis": f"You {text}"}
        | {"withheld": {"checks": 2, "points": 3}, "left_out": {"checks": 1, "points": 2}},
        {"id": "total", "number": "01-2", "title": "Total", "state": "not_started", "checks": []}
        | common
        | {"score": points(0, 5), "withheld": {"checks": 0, "points": 0}, "diagnosis": None, "file": None},
        {"id": "later", "number": "01-3", "title": "Later", "state": "started", "checks": []}
        | common
        | {"score": points(0, 4, 4), "withheld": {"checks": 0, "points": 0}, "diagnosis": None},
    ]
    return {
        "version": 1,
        "course": f"A course {text}",
        "handin": None,
        "author": text,
        "authors": [text],
        "digest": "0" * 64,
        "graded_at": "2026-11-22T14:00:00+00:00",
        "score": points(2.6, whole + 14, undecided + 9),
        "policy": None,
        "exercises": exercises,
        "environment": {"grader": "0.1.0", "torch": "2.13.0", "seed": 0},
    } | more


def read(text: str = "it is wrong", **more: Any) -> ReportFile:
    return report_from(json.dumps(plain_report(text, **more)), "report.json")


def written(name: str, report: ReportFile, options: Options = OPTIONS) -> str:
    return FORMATS[name](report, options)


def test_a_report_has_a_schema() -> None:
    """Other programs can check a report by it; it refuses what the reader refuses."""
    schema = jsonschema.Draft202012Validator(schema_of(ReportFile))
    schema.validate(plain_report())
    assert not schema.is_valid(plain_report(author=7))


def test_points_of_items_add_up() -> None:
    """Items have the points of the report, undecided ones are not lost; the cause says which points do not count."""
    report = read()
    items = items_of(report)
    assert sum(item.score.possible for item in items) == report.score.possible
    assert sum(item.score.earned for item in items) == report.score.earned
    assert sum(item.score.possible for item in items if item.kind == "undecided") == report.score.undecided
    assert {item.verdict for item in items} == {*Verdict, "withheld", "left_out", "not_started", "not_reached"}
    assert [item.id for item in items if item.is_cause] == ["failed_True"]
    plain = plain_report()
    double = plain["exercises"][0]
    double["held_by"] = "C2"
    row = next(check for check in double["checks"] if check["verdict"] == "passed")
    row |= {"earned": 0.3, "held_back": 1.0}
    items = items_of(report_from(json.dumps(plain), "report.json"))
    told = [item for item in items if "rule C2" in item.text]
    assert [item.id for item in told] == ["passed_True", "failed_True"]
    assert all("1 more point does not count" in item.text for item in told)
    assert told[0].score.earned == 30


@given(TEXTS)
@settings(FUZZ, max_examples=10)  # validators are slow
def test_json_files_are_what_their_platforms_read(text: str) -> None:
    """Each is valid by its schema, and tells nothing that is for staff."""
    for name in VALIDATORS:
        made = written(name, read(text))
        VALIDATORS[name].validate(json.loads(made))
        assert made.isascii()
        assert "secret of staff" not in made
        characters = {char for word in words_in(json.loads(made)) for char in word}
        assert {char for char in characters if unicodedata.category(char)[0] == "C"} <= {"\n"}


@given(TEXTS)
@FUZZ
def test_junit_is_valid_and_read_back(text: str) -> None:
    """A reader finds each check once, under a name of its own, with the text that students read."""
    made = written("junit", read(text))
    JUNIT.validate(made)
    root = ElementTree.fromstring(made)
    items = items_of(read(text))
    cases = list(root.iter("testcase"))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases) == len(items)
    for case, item in zip(cases, items, strict=True):
        faults = [child for child in case if child.tag != "system-out"]
        assert len(faults) < 2
        fault = faults[0] if faults else None
        assert (fault is None) == (item.kind == "passed")
        assert fault is None or (fault.text or "") == for_terminal(item.text)
        assert (item.kind == "undecided") == (fault is not None and fault.tag == "skipped")
    assert (root.get("failures"), root.get("errors")) == ("5", "8")


def test_a_class_with_every_verdict(tiny: Course, tmp_path: Path) -> None:
    """One batch gives each author a report that becomes each format, valid, and read by a reader of others' making."""
    school = PretendClass(tiny, tmp_path)
    for verdict in Verdict:
        school.hand_in(verdict.value, double=verdict.value, total="passed")
    school.grade()
    for verdict in Verdict:
        report = read_report(school.out / "reports" / f"{verdict.value}.json")
        assert {row.verdict for row in report.exercises[0].checks} == {verdict}
        for name in FORMATS:
            place = tmp_path / name
            write_format(name, str(place), report, OPTIONS)
            if name in VALIDATORS:
                VALIDATORS[name].validate(json.loads(place.read_text("utf-8")))
        JUNIT.validate(str(tmp_path / "junit"))
        suites = JUnitXml.fromfile(str(tmp_path / "junit"))
        lost = verdict.is_decided and verdict is not Verdict.PASSED
        assert (suites.tests, suites.failures + suites.errors) == (4, 2 if lost else 0)
        assert suites.skipped == (0 if verdict.is_decided else 2)


@given(TEXTS)
@FUZZ
def test_logs_have_the_commands_that_we_wrote(text: str) -> None:
    """The commands of GitHub's and GitLab's logs are the same whatever a student's text is."""
    lines = re.split(r"[\r\n]+", written("github", read(text)))
    commands = [line for line in lines if line.lstrip().startswith("::") or re.search(r"##(vso)?\[", line)]
    words = [re.match(r"::(\w+)", line) for line in commands]
    assert [word and word[1] for word in words] == ["group", "endgroup"] * 3 + ["error", *["warning"] * 4]
    error = next(line for line in commands if line.startswith("::error"))
    assert re.match(r"::error file=exercises/double\.py,line=7,title=[^:,\r\n]*::", error)
    log = written("gitlab", read(text))
    assert re.findall(r"section_end:\d+:grade_(\w+)", log) == ["0", "1", "not_started"]
    assert log.count("\x1b") == 12
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", written("log", read(text)))


@given(TEXTS)
@FUZZ
def test_markdown_has_the_shape_that_we_wrote(text: str) -> None:
    """No text of a student's makes a heading, a link, an image, HTML, a cell or a block of the page."""
    made = written("markdown", read(text))
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(made)
    inner = [child for token in tokens for child in token.children or ()]
    html = [token.content for token in (*tokens, *inner) if token.type.startswith("html")]
    assert [re.sub(r"\s", "", content) for content in html] == ["<details><summary>Ahint</summary>", "</details>"]
    assert sum(token.type == "heading_open" for token in tokens) == 3
    assert sum(token.type == "td_open" for token in tokens) == 6
    assert sum(token.type == "fence" for token in tokens) == 2
    assert not {token.type for token in inner} & {"link_open", "image"}


def test_the_first_failure_of_each_function_has_its_own_cause() -> None:
    """Page and log have a failure for each function, below one heading, each with the mistake that it shows."""
    plain = plain_report("text")
    exercise = plain["exercises"][0]
    functions = {"failed_True": "total", "failed_False": "total", "crashed_True": "mean"}
    kept = [check for check in exercise["checks"] if check["id"] in functions]
    for check in kept:
        check |= {"function": functions[check["id"]], "message": f"{functions[check['id']]} is wrong"}
    mistakes = [
        {"sentence": "You add one.", "functions": ["total"], "rule": "C1", "checks": ["failed_True", "failed_False"]},
        {"sentence": "You forget the last.", "functions": ["mean"], "rule": "C2", "checks": ["crashed_True"]},
        {"sentence": "You sort.", "functions": ["order"], "rule": "C3", "checks": ["elsewhere"]},
    ]
    exercise |= {"checks": kept, "mistakes": mistakes, "diagnosis": "You add one. In `mean` (rule C2): ..."}
    report = report_from(json.dumps(plain), "report.json")
    page = written("markdown", report)
    assert page.count("#### `01-1 Double text`") == 1
    for text in (page, written("log", report)):
        _, *parts = re.split(r"(\w+) is wrong\n", text)
        said = {
            name: re.findall(r"(?:This looks|In `).*", rest) for name, rest in zip(parts[::2], parts[1::2], strict=True)
        }
        assert said == {
            "total": ["This looks like: You add one.", "In `order` (rule C3): You sort."],
            "mean": ["This looks like: You forget the last."],
        }


def test_points_are_not_told_to_everybody() -> None:
    """Where points may not be told, no format has any; those that consist of points are refused."""
    plain = plain_report()
    held = next(check for check in plain["exercises"][0]["checks"] if check["verdict"] == "passed")
    held |= {"earned": 0.3, "held_back": 1.0}
    report = report_from(json.dumps(plain), "report.json")
    for name in FORMATS.keys() - OF_POINTS:
        made = written(name, report, Options(points=False))
        assert not re.search(r"[0-9] (more )?points|\b[0-9.]+ / [0-9]|\b(2\.6|1\.3)\b", made)
    for name in OF_POINTS:
        with pytest.raises(CourseError, match="consists of points"):
            write_format(name, "-", report, Options(points=False))


def test_a_case_has_file_and_line() -> None:
    """In its output, and on GitLab the file as an attribute, which the schema of Jenkins does not know."""
    plain, gitlab = (written("junit", read(), Options(environ=environ)) for environ in ({}, {"GITLAB_CI": "true"}))
    case = next(ElementTree.fromstring(gitlab).iter("testcase"))
    assert (case.get("file"), case.get("line")) == ("exercises/double.py", None)  # GitLab reads no line
    assert (next(ElementTree.fromstring(gitlab).iter("system-out")).text or "").startswith("exercises/double.py:7\n")
    JUNIT.validate(plain)
    assert (next(ElementTree.fromstring(plain).iter("system-out")).text or "").startswith("exercises/double.py:7\n")
    named = written("junit", read(), Options(folder="[[ATTACHMENT|a.png]]"))  # a command of GitLab's
    assert "[[" not in named


def test_code_quality_stands_at_the_line() -> None:
    """What to fix first in an exercise; nothing where the file lies outside of the repository."""
    (row,) = json.loads(written("codequality", read()))
    assert row["location"] == {"path": "exercises/double.py", "lines": {"begin": 7}}
    assert (row["check_name"], row["severity"]) == ("double/failed_True", "major")
    assert json.loads(written("codequality", read(), Options(folder=None))) == []


def test_where_nothing_was_decided_there_is_no_score() -> None:
    """The student reads why, and no 0."""
    plain = plain_report()
    later = plain["exercises"][2]
    report = report_from(json.dumps(plain | {"exercises": [later], "score": later["score"]}), "report.json")
    made = json.loads(written("gradescope", report))
    assert "score" not in made
    assert "grading ended before this exercise" in made["output"]
    made = json.loads(written("prairielearn", report))
    assert (made["gradable"], "score" in made) == (False, False)
    assert "01-3 Later: grading ended before this exercise" in made["message"]


def test_gradescope_leaves_what_is_undecided_blank() -> None:
    """The total is what was earned; undecided checks have no score, hidden ones are shown when asked for."""
    made = json.loads(written("gradescope", read(), Options(hidden="after_due_date")))
    assert made["score"] == 2.6
    assert sum(test.get("score", 0) for test in made["tests"]) == pytest.approx(2.6)
    blank = [test for test in made["tests"] if "status" not in test]
    assert len(blank) == 2 * len(UNDECIDED) + 3
    assert all("score" not in test and "max_score" not in test for test in blank)
    assert {test["visibility"] for test in made["tests"]} == {"visible", "after_due_date"}


def test_prairielearn_costs_no_attempt_for_our_faults() -> None:
    """What is broken, inconclusive or cannot be loaded is not gradable; else the score is of what was decided."""
    plain = plain_report()
    assert json.loads(written("prairielearn", read()))["gradable"] is False
    exercise = plain["exercises"][0]
    done = [check for check in exercise["checks"] if check["verdict"] in ("passed", "failed", "not_run")]
    exercise |= {"checks": done, "score": points(2.6, 12.8, 7.6)}
    plain |= {"exercises": plain["exercises"][:2], "score": points(2.6, 17.8, 7.6)}
    made = json.loads(written("prairielearn", report_from(json.dumps(plain), "r")))
    assert (made["gradable"], made["score"]) == (True, round(2.6 / 10.2, 6))
    loads = {
        **done[2],
        "verdict": "error",
        "message": "your double.py does not load:\n  def f(:\n       ^",
        "cause": "load",
    }
    exercise |= {"checks": [loads], "score": points(0, 1.3)}
    exercise |= {"withheld": {"checks": 0, "points": 0}, "left_out": {"checks": 0, "points": 0}}
    plain |= {"score": points(0, 6.3)}
    made = json.loads(written("prairielearn", report_from(json.dumps(plain), "r")))
    assert made["gradable"] is False
    # It shows an error as a paragraph, in which lines run together, and an output as it is.
    assert made["format_errors"][0].startswith("your double.py does not load:")
    assert "\n" not in made["format_errors"][0]
    assert "does not load:\n  def f(:\n       ^" in made["output"]


def test_classroom50_counts_in_hundredths() -> None:
    """Scores are whole numbers, add up, and say what they are; without its runner nothing is written."""
    made = json.loads(written("classroom50", read()))
    assert made["score"] == 260 == sum(test["score"] for test in made["tests"])
    assert made["max-score"] == sum(test["max-score"] for test in made["tests"])
    assert made["tests"][0]["message"].startswith("1.3 of 1.3 points, here in hundredths")
    with pytest.raises(CourseError, match="CLASSROOM, ASSIGNMENT, OWNER"):
        written("classroom50", read(), Options())


def test_nothing_is_written_where_a_file_would_be_refused(tmp_path: Path) -> None:
    """The old file stays, whole."""
    place = tmp_path / "sub" / "results.json"
    write_format("gradescope", str(place), read(), OPTIONS)
    before = place.read_text("utf-8")
    with pytest.raises(CourseError):
        write_format("classroom50", str(place), read(), Options())
    big = plain_report()
    big["exercises"] = [{**row, "title": "x" * 1_000_000} for row in big["exercises"]]
    with pytest.raises(GraderError, match="which its platform refuses"):
        write_format("classroom", str(place), report_from(json.dumps(big), "r"), OPTIONS)
    assert place.read_text("utf-8") == before
    assert [path.name for path in place.parent.iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it nests too deeply"),
        ("[]", "all of it"),
        ('{"version": 2}', "a report of version 2; this grader reads version 1: update it"),
        (json.dumps(plain_report(score=points(float("nan"), 1))), "score.earned"),
        (json.dumps(plain_report(score=points(9999, 20))), "score: 9999 of 20 points cannot be earned"),
        (json.dumps(plain_report(score=points(1, 20))), "score: it is not the sum of the exercises' scores"),
        (json.dumps(plain_report(author=7, course=[])), "author: Input should be a valid string"),
        (json.dumps(plain_report(author=7, course=[])), "course: Input should be a valid string"),
    ],
)
def test_what_is_not_a_report_is_refused(text: str, told: str) -> None:
    """In sentences that name the file and everything that is wrong in it."""
    with pytest.raises(CourseError, match=re.escape(told)) as refused:
        report_from(text, "report.json")
    assert str(refused.value).startswith("report.json is")
