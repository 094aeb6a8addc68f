"""Files that somebody else made and staff names, or a course has: read under limits, and refused in a sentence."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from batch.pretend import PretendClass
from click.testing import CliRunner
from support import COURSES, WarmGrade

from grader.batch.overrides import OVERRIDES
from grader.ci.clones import read_class
from grader.cli import main
from grader.course.load import load_course
from grader.model.errors import CourseError
from grader.report.people import people_in

pytestmark = pytest.mark.lane

REPORT = {
    "version": 1,
    **dict.fromkeys(("course", "author", "digest", "graded_at"), ""),
    "score": {"earned": 0, "possible": 0, "undecided": 0},
    "environment": {"seed": 7},
    "exercises": [],
}
EXERCISE = {
    "id": "double",
    **dict.fromkeys(("title", "module", "state"), ""),
    "score": REPORT["score"],
    "withheld": {"checks": 0, "points": 0},
    "checks": [],
}


def with_limits(**limits: float) -> str:
    return json.dumps({**REPORT, "exercises": [{**EXERCISE, "limits": limits}]})


def in_levels(count: int) -> str:
    return json.dumps({**REPORT, "other": 0}).replace('"other": 0', '"other": ' + "[" * count + "]" * count)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" " * (65 << 20), "r.json has more than 64 MiB"),
        (in_levels(100_000), "r.json: it nests too deeply; some"),
        (with_limits(exercise_s=float("inf")), "exercises.0.limits.exercise_s"),
    ],
    ids=["large", "deep", "endless"],
)
def test_a_report_that_nobody_wrote(type_grade: WarmGrade, home: Path, text: str, said: str) -> None:
    """--like names the report and what is wrong with it."""
    (home / "r.json").write_text(text)
    ran = type_grade("double", "--like", "r.json", cwd=home)
    assert ran.returncode == 2
    assert said in ran.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"call_s": 1e9}, "the limit call_s was 1000000000, and is 2 now"),
        ({"memory_mb": 0.5}, "the limit memory_mb was 0.5, and is 2048 now"),
    ],
    ids=["long", "small"],
)
def test_limits_of_a_report_are_shown_and_not_used(
    type_grade: WarmGrade, home: Path, limits: dict[str, float], said: str
) -> None:
    """No worker gets limits that no course could have."""
    (home / "r.json").write_text(with_limits(**limits))
    assert said in type_grade("double", "--like", "r.json", cwd=home).stdout


def test_a_table_that_is_not_a_class(tmp_path: Path) -> None:
    """A roster and a list of repositories have limits of bytes and rows, and wrong lines are not listed without end."""
    path = tmp_path / "people.csv"
    path.write_text("name,id\n" + "Ada,1\n" * 100_001)
    with pytest.raises(CourseError, match=r"people.csv has more than 100,000 rows"):
        people_in(path)
    path.write_text("name,id\n" + "A" * (17 << 20))
    with pytest.raises(CourseError, match=r"people.csv has more than 16 MiB"):
        people_in(path)
    path.write_text("name,id,points\n" + f"Ada,1,{'9' * 5000}\n" * 2)  # more than any number can be
    assert len(people_in(path).persons) == 2
    path.write_text("not a repository\n" * 1000)
    with pytest.raises(CourseError) as raised:
        read_class(path, "https://github.com")
    assert len(raised.value.problems) == 51
    assert raised.value.problems[-1].endswith("and 950 more lines of this kind")


@pytest.fixture
def graded(tmp_path: Path) -> PretendClass:
    """A class that was graded."""
    made = PretendClass(load_course(COURSES / "tiny"), tmp_path)
    made.hand_in("ada", double="passed")
    made.grade([made.course.exercises[0]])
    return made


def report(made: PretendClass) -> str:
    """What `grade report` says of the class, without a traceback."""
    ran = CliRunner().invoke(main, ["report", str(made.out), "--course", str(made.course.root)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.output


def test_overrides_without_end(graded: PretendClass) -> None:
    """Fifty wrong rows are named, and where the list ends."""
    (graded.out / OVERRIDES).write_text("author,exercise,check,points,why\n" + "x,y\n" * 50_000)
    said = report(graded)
    assert said.count("\n") < 300
    assert re.search(r"problems after line \d+ are not listed", said)


def altered(statement: str) -> Callable[[Path], None]:
    def alter(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return alter


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (altered("CREATE VIEW other AS SELECT 1"), "it has a view, other, which no version of this program makes"),
        (altered("UPDATE results SET judge = 5, author = x'00'"), "its table results has a value of another type"),
        (altered("UPDATE submissions SET authors = '5'"), "its table submissions has a value of another type"),
        (altered("UPDATE submissions SET authors = '[['"), "malformed JSON"),
        (altered("UPDATE results SET outcomes = '[]'"), "result 1 in the file of results"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "journal.sqlite cannot be used"),
    ],
    ids=["computes", "types", "authors", "json", "outcomes", "cut"],
)
def test_a_journal_that_we_did_not_write(graded: PretendClass, alter: Callable[[Path], None], said: str) -> None:
    """It is refused by name, before anything of it is believed."""
    alter(graded.out / "journal.sqlite")
    assert said in report(graded).replace("\n", " ")


@pytest.mark.parametrize(
    "text",
    ["title: " + "[" * 100_000, "- " * 60_000, "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 8)}]\n" for n in range(20)
    )],
    ids=["brackets", "lists", "names"],
)  # fmt: skip
def test_a_course_that_ends_no_process(home: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A course.yaml that nests without end, or repeats itself by names, is an error with its line."""
    monkeypatch.chdir(home)
    (home / "course.yaml").write_text(text)
    ran = CliRunner().invoke(main, ["list"])
    assert ran.exit_code == 2
    assert "course.yaml: line" in ran.output
    assert "there is too much in it; values can nest at most 50 levels" in ran.output.replace("\n", " ")
