"""What nothing explains is grouped for each function by itself, and what a message says already makes no group."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support import COURSES, WarmGrade

from grader.batch.class_summary import ClassSummary
from grader.batch.drafts import draft_source
from grader.batch.journal import open_journal
from grader.batch.results_folder import ResultsFolder
from grader.course.load import load_course

RIGHT, RIGHT_IN_PLACE = "def double(x):\n    return 2 * x\n\n\n", "def double_(x):\n    return x.mul_(2)\n"
FOUR, FIVE = RIGHT.replace("2", "4"), RIGHT_IN_PLACE.replace("2", "5")
SIX = '"""Sixes.\n\ncaught by: small\n"""\n\n' + RIGHT.replace("2", "6") + RIGHT_IN_PLACE
ANSWERS = {
    "ada": FOUR + RIGHT_IN_PLACE,
    "bo": "def double(x):\n    y = x + x\n    return y + y\n\n\n" + FIVE,
    "cy": RIGHT + "def double_(x):\n    x.mul_(2)\n    return x.add_(1.5 * x)\n",
    "dee": "def double(x):\n    y = 2 * x\n\n\n" + RIGHT_IN_PLACE,
    "eve": RIGHT_IN_PLACE,
    "fay": "def double(x):\n    result = None\n    return result\n\n\n" + RIGHT_IN_PLACE,
    "gus": "def double(x):\n    return 3 * x + 3 * x\n\n\n" + FIVE,
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, type_grade: WarmGrade) -> Path:
    """The results of a class in which functions are wrong each by itself; the course knows one mistake."""
    root = tmp_path_factory.mktemp("functions")
    course = Path(shutil.copytree(COURSES / "tiny", root / "course"))
    (course / "solutions/01_basics/double/wrong/sixes.py").write_text(SIX)
    for author, text in ANSWERS.items():
        (root / "in" / author).mkdir(parents=True)
        (root / "in" / author / "double.py").write_text(text)
    ran = type_grade("batch", str(root / "in"), "--out", str(root / "out"), "--only", "double", "-j", "1", cwd=course)
    assert ran.returncode == 0, ran.stderr
    return root / "out"


def test_groups_go_by_function(out: Path) -> None:
    """Who is wrong in two functions is in two groups, also where the other one has a sentence."""
    with open_journal(out, new=False) as journal:
        overview = ClassSummary(load_course(out.parent / "course"), journal, ResultsFolder(out))
        groups = {tuple(group.members): group for group in overview.groups}
        rows = {members: [row.check.id for row in overview.example(group).rows] for members, group in groups.items()}
        draft = draft_source(journal, groups["ada", "bo"])
    assert {members: group.function for members, group in groups.items()} == {
        ("ada", "bo"): "double",
        ("bo", "cy", "gus"): "double_",
    }
    assert rows == {("ada", "bo"): ["small", "random"], ("bo", "cy", "gus"): ["in_place"]}
    assert "caught by: small\n" in draft
    (tally,) = overview.exercises
    assert (tally.explained_count, tally.unexplained_count) == (1, 4)


def test_the_terminal_and_the_page_name_the_function(out: Path, type_grade: WarmGrade) -> None:
    """Each group says in which function its members fail."""
    ran = type_grade("report", str(out), cwd=out.parent / "course")
    assert "2 submissions of 01-1 Double it, double\n" in ran.stdout
    assert "3 submissions of 01-1 Double it, double_\n" in ran.stdout
    page = (out / "report.html").read_text()
    assert "behave alike in <code>double_</code>" in page


def test_a_stub_is_not_written_yet(out: Path) -> None:
    """A function that gives a name the value None and returns it does nothing."""
    report = json.loads((out / "reports" / "fay.json").read_text())
    messages = {check["id"]: check["message"] for check in report["exercises"][0]["checks"]}
    assert messages["small"].startswith("your `double` is not written yet (it returns None)")


def test_pages_have_the_first_failure_of_each_function(out: Path, type_grade: WarmGrade) -> None:
    """On the page as Markdown as well as in the terminal; the sentence stands in both."""
    type_grade("report", str(out), cwd=out.parent / "course")
    text = (out / "feedback" / "gus.md").read_text()
    assert "Doubles three numbers" in text and "Doubles in place" in text
    assert "Sixes." in text
    assert "The rest is in the report" not in text
