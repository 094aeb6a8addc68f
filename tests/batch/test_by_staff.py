"""Rules whose points a person gives: undecided until they are entered, kept by regrades, with a comment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support import COURSES, RIGHT, WarmGrade

from grader.course.load import load_course
from grader.model import RubricLine
from grader.model.errors import CourseError

YAML = "exercises/01_basics/double/exercise.yaml"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The pretend course; a person grades two of the ten points of `double`."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    starter = root / "exercises/01_basics/double/double.py"
    starter.write_text(starter.read_text().replace("\nC1  ", "\nC9  Say in a comment why.\nC1  ", 1))
    description = root / YAML
    description.write_text(description.read_text() + "rules:\n  C9: {by: staff, points: 2}\n")
    return root


def double_of(out: Path, author: str) -> dict[str, object]:
    """The exercise in an author's report."""
    report = json.loads((out / "reports" / f"{author}.json").read_text())
    found: dict[str, object] = next(one for one in report["exercises"] if one["id"] == "double")
    return found


def test_points_wait_until_a_person_enters_them(course: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """Batch, report and the class's page list what waits; a regrade keeps what was entered, and the comment."""
    out = tmp_path / "out"
    for name in ("ada", "bob"):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "double.py").write_text(RIGHT)
    words = ("batch", str(tmp_path / "in"), "--out", str(out), "-j", "1")
    ran = type_grade(*words, cwd=course)
    assert ran.returncode == 0, ran.stderr
    waits = "C9: 2 submissions still need points from a person; enter them in overrides.csv"
    assert waits in " ".join(ran.stdout.split())
    assert double_of(out, "ada")["score"] == {"earned": 8, "possible": 10, "undecided": 2}
    (out / "overrides.csv").write_text("author,exercise,check,points,why\nada,double,C9,1.5,Good; say it shorter.\n")
    for again in ((), ("--rerun", "all")):
        ran = type_grade(*words, *again, cwd=course)
        assert "C9: 1 submission still needs points" in " ".join(ran.stdout.split())
        exercise = double_of(out, "ada")
        assert exercise["score"] == {"earned": 9.5, "possible": 10, "undecided": 0}
        assert double_of(out, "bob")["score"] == {"earned": 8, "possible": 10, "undecided": 2}
    type_grade("report", str(out), cwd=course)
    assert "Good; say it shorter." in (out / "feedback" / "ada.html").read_text()
    assert "not entered yet" not in (out / "feedback" / "ada.html").read_text()
    shown = " ".join(type_grade("report", str(out), cwd=course).stdout.split())
    assert "double C9: 1 submission still needs points from a person" in shown
    page = (out / "report.html").read_text()
    assert "Graded by a person" in page and "bob" in page.partition("Graded by a person")[2].partition("<h2>")[0]


def test_diff_lists_what_was_entered_and_what_waits(course: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """With the comment; of who handed nothing in, and of the given file, nothing waits for a person."""
    out = tmp_path / "out"
    starter = (course / "exercises/01_basics/double/double.py").read_text()
    for name, text in (("ada", RIGHT), ("bob", RIGHT), ("cy", starter), ("dee", None)):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / ("double.py" if text else "total.py")).write_text(
            text or "def total(x):\n    return x\n"
        )
    type_grade("verify", "--write-digests", "double", "--seeds", "1", cwd=course)
    words = ("batch", str(tmp_path / "in"), "--out", str(out), "-j", "1")
    type_grade(*words, cwd=course)
    (out / "overrides.csv").write_text("author,exercise,check,points,why\nada,double,C9,1.5,Good.\n")
    ran = type_grade(*words, cwd=course)
    assert "C9: 1 submission still needs points" in " ".join(ran.stdout.split())
    shown = " ".join(type_grade("diff", str(out), cwd=course).stdout.split())
    assert "01-1 8 -> 9.5 ada (Good.) not_run 0 -> failed 1.5 C9" in shown
    assert "01-1 C9: 1 submission still needs points from a person; enter them in overrides.csv" in shown
    assert [double_of(out, name)["score"] for name in ("cy", "dee")] == [
        {"earned": 0, "possible": 10, "undecided": 0}
    ] * 2
    # Points of the whole exercise decide its rules, too.
    (out / "overrides.csv").write_text("author,exercise,check,points,why\nada,double,,7,All.\nbob,double,,7,All.\n")
    assert "without" not in type_grade(*words, cwd=course).stdout
    type_grade("report", str(out), cwd=course)
    assert "Graded by a person" not in (out / "report.html").read_text()


@pytest.fixture
def essay(tmp_path: Path) -> Path:
    """The pretend course with an exercise that a person grades, and that has no checks."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    folder = root / "exercises/01_basics/essay"
    folder.mkdir()
    (folder / "essay.py").write_text(
        '"""Say why\n\nC1  `TEXT` says why a view needs no memory.\n"""\n\nTEXT = ""  # TODO\n'
    )
    (folder / "exercise.yaml").write_text(
        "number: 01-3\ntitle: Say why\nkind: implement\ndifficulty: 1\npoints: 4\ntopics: [T1]\n"
        "hints: [Read., Think., Write.]\nby: staff\n"
    )
    yaml = root / "course.yaml"
    yaml.write_text(
        yaml.read_text().replace("total]", "total, essay]").replace("- total\n", "- total\n      - essay\n")
    )
    return root


def test_a_person_grades_a_whole_exercise(essay: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """It has no checks; its points are undecided until they are entered, as a check or for the whole."""
    ran = type_grade("verify", "--write-digests", "essay", cwd=essay)
    assert "No problems found." in ran.stdout, ran.stdout
    for name in ("ada", "bob"):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "essay.py").write_text(f'TEXT = "It shares memory, says {name}."\n')
    (tmp_path / "in" / "cy").mkdir()
    shutil.copy(essay / "exercises/01_basics/essay/essay.py", tmp_path / "in" / "cy")
    out = tmp_path / "out"
    words = ("batch", str(tmp_path / "in"), "--out", str(out), "--only", "essay", "-j", "1")
    ran = type_grade(*words, cwd=essay)
    assert "01-3: 2 submissions still need points from a person" in " ".join(ran.stdout.split()), ran.stderr
    (out / "overrides.csv").write_text(
        "author,exercise,check,points,why\nada,essay,,3,Well said.\nbob,essay,staff,2,Too short.\n"
    )
    for again in ((), ("--rerun", "all")):
        assert "without" not in type_grade(*words, *again, cwd=essay).stdout
        scores = {
            name: json.loads((out / "reports" / f"{name}.json").read_text())["score"] for name in ("ada", "bob", "cy")
        }
        assert [(each["earned"], each["undecided"]) for each in scores.values()] == [(3, 0), (2, 0), (0, 0)]
    type_grade("report", str(out), cwd=essay)
    assert "Too short." in (out / "feedback" / "bob.html").read_text()
    shown = type_grade("essay", "--submission", str(tmp_path / "in" / "ada"), cwd=essay).stdout
    assert "a person grades this" in " ".join(shown.split())


def test_an_exercise_has_checks_or_a_person(essay: Path) -> None:
    """Not both."""
    (essay / "exercises/01_basics/essay/check_essay.py").write_text("")
    (broken,) = load_course(essay, whole=False).broken
    assert "by: a person gives all points, and there is check_essay.py; remove one of the two" in broken.problems[0]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("{C7: {by: staff, points: 2}}", "rules: there is no rule C7"),
        ("{C9: {by: staff, points: 10}}", "rules: staff gives all 10 points, or more"),
        ("{C9: {by: nobody, points: 1}}", "rules.C9.by"),
        (
            "{C9: {by: staff, points: 1, rubric: [{points: 2, says: Well said.}]}}",
            "rules.C9: its rubric gives 2 points, and the rule has 1",
        ),
    ],
)
def test_wrong_entries_are_refused(course: Path, rules: str, said: str) -> None:
    """A rule that does not exist, all points, another word than staff, a rubric with too many points."""
    path = course / YAML
    path.write_text(path.read_text().partition("rules:")[0] + f"rules: {rules}\n")
    try:
        problems = [problem for item in load_course(course).broken for problem in item.problems]
    except CourseError as error:
        problems = list(error.problems)
    assert any(said in problem for problem in problems), problems


def test_a_rubric_is_for_staff(course: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """The exercise has its sentences with their points; a released copy has the rule without them."""
    path = course / YAML
    rubric = "[{points: 2, says: Says why.}, {points: 0.5, says: Says what.}]"
    path.write_text(
        path.read_text().partition("rules:")[0] + f"rules: {{C9: {{by: staff, points: 2, rubric: {rubric}}}}}\n"
    )
    assert load_course(course).exercises[0].rubrics == {
        "C9": (RubricLine(200, "Says why."), RubricLine(50, "Says what."))
    }
    ran = type_grade("release", str(tmp_path / "students"), cwd=course)
    assert ran.returncode == 0, ran.stderr
    released = load_course(tmp_path / "students").exercises[0]
    assert (released.staff, released.rubrics) == ({"C9": 200}, {"C9": ()})
