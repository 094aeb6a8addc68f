"""`grade break` and `grade catch`: a fault to find in one's own solution, and a check of one's own to try."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support import FORK, InLane, WarmGrade, add_module

from grader.cli import main
from grader.course.golf import count_operations
from grader.course.load import load_course
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.runner.lane import Lane
from grader.student.folder import CourseProgress, ExerciseProgress, write_progress
from grader.student.games import drilling
from grader.student.games.breaking import choose_fault, plant_fault, planted_fault, restore_own_file
from grader.student.games.catching import caught_lines
from grader.student.games.faults import PlantedFault
from grader.student.own import OwnExercise

MINE = "import torch\n\n\ndef double(x):  # mine\n    return x * 2\n\n\ndef double_(x):\n    return x.mul_(2)\n"
TRIPLE = MINE.replace("x * 2", "x * 3")
OWN = '''
import torch
from grader.check import check, assert_values


@check("C1")
def check_mine(student):
    """Twice"""
    assert_values(student.double(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]))
'''


@pytest.fixture
def course(home: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A student's folder with an exercise that is solved."""
    (home / "exercises/01_basics/double/double.py").write_text(MINE)
    monkeypatch.chdir(home)
    return load_course(home)


@pytest.fixture
def double(course: Course) -> Exercise:
    return course.exercises[0]


def beside(exercise: Exercise) -> list[str]:
    return sorted(path.name for path in exercise.starter.parent.glob("double.py*"))


def test_a_fault_that_nobody_sees_is_not_planted(course: Course, double: Exercise, fork_lane: Lane) -> None:
    """A text of which all faults keep full marks, or which has none, is not broken."""
    double.starter.write_text("import torch\n\n\ndouble = lambda x: 2 * x\ndouble_ = lambda x: x.mul_(2)\n")
    with pytest.raises(CourseError, match="no fault could be planted"):
        choose_fault(OwnExercise(course, double, FORK, InLane(fork_lane)), random.Random(3))


def test_what_was_written_meanwhile_is_kept(course: Course, double: Exercise) -> None:
    """Whoever has changed the broken file finds that beside their own, which comes back."""
    planted = plant_fault(course, double, PlantedFault("a number was another one", 5, TRIPLE))
    assert (planted.own, planted.fault.source, planted.fault.line) == (MINE, TRIPLE, 5)
    double.starter.write_text("# in the middle of something\n")
    kept = restore_own_file(course, double, planted)
    assert kept is not None
    assert kept.read_text() == "# in the middle of something\n"
    assert double.starter.read_text() == MINE


def test_a_note_without_its_file_counts_for_nothing(course: Course, double: Exercise) -> None:
    """A kept file that is gone, or a damaged note, is no fault planted: nothing is put in the place of the file."""
    planted = plant_fault(course, double, PlantedFault("a number was another one", 5, TRIPLE))
    note = course.root / ".grade/broken/double.json"
    good = note.read_text()
    note.write_text(good[:20])
    assert planted_fault(course, double) is None
    note.write_text(good.replace(planted.old, "../../../../elsewhere"))
    assert planted_fault(course, double) is None
    note.write_text(good)
    (double.starter.parent / planted.old).unlink()
    assert planted_fault(course, double) is None


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_fault_is_looked_for_and_given_up(
    course: Course, double: Exercise, fork_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused where nothing is planted; planted, so that a check sees it; not found yet; given up; again, and found."""
    assert "no fault is planted in double" in run("break", "double", "--give-up").output
    assert "has one fault now" in run("break", "double", "--seed", "1").output
    assert beside(double) == ["double.py", "double.py.old"]
    assert double.starter.read_text() != MINE == double.starter.with_name("double.py.old").read_text()
    (graded,) = OwnExercise(course, double, FORK, InLane(fork_lane)).grade().exercises
    assert graded.state == "started"
    assert not {row.outcome.cause for row in graded.checks} & {"load", "name", "signature"}
    assert "The fault is still there:" in run("break", "double").output
    told = run("break", "double", "--give-up").output
    assert "You did not find it this time. The fault was in line" in told
    assert f"    before   {'return x * 2' if 'x * 2' in told else 'return x.mul_(2)'}\n" in told
    run("break", "double", "--seed", "2")
    double.starter.write_text(MINE)
    assert "You found it! The fault was in line" in run("break", "double").output
    assert (double.starter.read_text(), beside(double)) == (MINE, ["double.py"])
    assert planted_fault(course, double) is None


def test_an_own_check_is_tried(course: Course, double: Exercise) -> None:
    """After full marks a template is written; what is caught and missed is counted, and no wrong answer is named."""
    assert "once you have full marks" in run("catch", "double").output
    write_progress(course, CourseProgress({"double": ExerciseProgress("done", 10, solved=True)}))
    assert "is a check for you to write" in run("catch", "double").output
    own = course.root / "my_checks/check_double.py"
    assert "Call the answer: student.double(...), student.double_(...)\n" in own.read_text()
    own.write_text(OWN)
    tried = run("catch", "double")
    assert tried.exit_code == 1
    assert "All 2 right answers pass your check.\nYour check catches 1 of 2 known wrong answers.\n" in tried.output
    assert "missed: 1 that breaks C1\n" in tried.output
    assert "changes_input" not in tried.output


def test_a_check_that_is_too_strict_is_reported_first() -> None:
    """A right answer that is refused comes before what is caught, with what the check said of it."""
    found = list(caught_lines(2, ["the result is wrong\nexpected  1"], 3, [("C1", "C2")] * 2, 60))
    assert found == [
        "1 of 2 right answers fail your check, so it is too strict. It says:",
        "    the result is wrong",
        "    expected  1",
        "Your check catches 1 of 3 known wrong answers.",
        "    missed: 2 that break C1 and C2",
    ]


DRILL = """
given: a = [1, 2]
question: Does b change?
watch: b
exercise: total
rounds:
  - {lines: [b = a, a.append(3)], why: one list has two names.}
  - {lines: ["b = a[:]", a.append(3)], why: a slice is a copy.}
questions:
  - {lines: ["[1] * 2"], wrong: ["[2]", "raises TypeError"], why: a list is repeated., exercise: double}
  - {lines: ["t = []", "t[0]"], wrong: ["None"], why: there is no item., exercise: double}
"""


GUESSES = "\n".join(random.Random(0).choices("123", k=200))
"""Each choice of each question, sooner or later."""


def drilled(typed: str, *options: str) -> str:
    """What `grade drill` prints when these answers are typed."""
    result = CliRunner().invoke(main, ["drill", "--seed", "0", *options], input=typed)
    assert result.exit_code == 0, result.output
    return result.output


def test_drill_asks_until_each_answer_is_right(course: Course) -> None:
    """The lines decide who is right, and what was answered wrong comes again; what cannot be asked is told."""
    path = course.root / "exercises/01_basics/drill.yaml"
    for text, told in (
        (None, "these modules have some: no module"),
        (DRILL.replace("a[:]", "c"), "drill.yaml: round 2 raises NameError"),
        (DRILL.replace("[1] * 2", "[1] *"), "drill.yaml: question 1 raises SyntaxError"),
        ("start: a = 1\n", "there is no question; write `questions` or `rounds`"),
        (DRILL.replace("watch: b\n", ""), "rounds need a `question`, and `watch`"),
    ):
        if text is not None:
            path.write_text(text)
        result = CliRunner().invoke(main, ["drill", "--seed", "0"], input="y\n1\n" * 9)
        assert (result.exit_code, told in result.output) == (2, True), result.output
        shutil.rmtree(course.root / ".grade", ignore_errors=True)
    path.write_text(DRILL)
    told = drilled("y\ny\nn\n", "total")
    assert told.count("Does b change?") == 3
    assert ">>> a = [1, 2]\n>>> b = a[:]\n>>> a.append(3)\n" in told
    assert "Right: yes. one list has two names. (01-2)\n" in told
    assert "Wrong: no. a slice is a copy. (01-2)\n>>> b\n[1, 2]\n" in told
    assert told.endswith("1 of 2 right at the first try; most right answers in a row: 2.\n"), told


def test_drill_shows_what_a_line_shows(course: Course) -> None:
    """The choices are other answers and what the line shows here, also an error; with a topic or a name, only some."""
    (course.root / "exercises/01_basics/drill.yaml").write_text(DRILL)
    told = drilled(GUESSES, "double")
    assert "Does b change?" not in told
    assert re.search(r"^  \d  \[1, 1\]$", told, re.MULTILINE)
    assert re.search(r"^  \d  raises IndexError$", told, re.MULTILINE)
    assert "right: [1, 1]. a list is repeated. (01-1)" in told.lower()
    assert "has no topic" in CliRunner().invoke(main, ["drill", "--topic", "nothing"]).output


def test_drill_asks_first_about_modules_that_were_begun(course: Course) -> None:
    """Without a name, what is new comes from modules that were begun, as long as they have questions."""
    add_module(course.root)
    for module, line in (("01_basics", "1 + 1"), ("02_more", "3 + 1")):
        drill = f"questions:\n  - {{lines: ['{line}'], wrong: ['5'], why: so.}}\n"
        (course.root / "exercises" / module / "drill.yaml").write_text(drill)
    whole = load_course(course.root)
    write_progress(whole, CourseProgress({"again": ExerciseProgress("started", 1.0)}))
    questions, memory = drilling.read_questions(whole), drilling.AnsweredQuestions(whole)
    for seed in range(5):
        asked = drilling.choose_questions(questions, 2, seed, memory.rank)
        assert [question.module for question in asked] == ["02_more", "01_basics"]


def test_drill_runs_lines_in_a_worker(course: Course) -> None:
    """A course's lines never run in the process of the command."""
    lines = f"[import os, os.getpid() == {os.getpid()} or os.getppid() == {os.getpid()}]"
    drill = f"questions:\n  - {{lines: {lines}, wrong: ['True', 'None'], why: so., exercise: double}}\n"
    (course.root / "exercises/01_basics/drill.yaml").write_text(drill)
    assert "Right: False. so. (01-1)" in drilled(GUESSES, "double").replace("Wrong: False", "Right: False")


def test_drill_runs_the_lines_of_a_question_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was answered wrong comes again, and its answer is known: its lines have run."""
    (course.root / "exercises/01_basics/drill.yaml").write_text(DRILL)
    ran: list[str] = []
    as_before = drilling.answer_in_worker

    def counted(run: Callable[[str], str], question: drilling.Question) -> drilling.DrillAnswer:
        ran.append(question.id)
        return as_before(run, question)

    monkeypatch.setattr(drilling, "answer_in_worker", counted)
    told = drilled("n\nn\ny\ny\n" * 4, "total")
    assert told.count("Does b change?") > 2
    assert len(ran) == 2


def test_drill_begins_with_what_was_wrong(course: Course) -> None:
    """Answers are saved: the next drill asks first what was answered wrong, then what is new."""
    (course.root / "exercises/01_basics/drill.yaml").write_text(DRILL)
    drilled("y\ny\nn\n", "total")
    told = drilled("n\n", "-n", "1")
    assert ">>> b = a[:]\n" in told
    assert told.endswith("1 of 1 right at the first try; most right answers in a row: 1.\n")
    assert "Does b change?" not in drilled(GUESSES, "-n", "2")
    (course.root / ".grade/drill.json").write_text("{")
    told = drilled("y\ny\nn\n", "total")
    assert "drill.json was damaged, so your earlier answers are not known" in " ".join(told.split())


GOLF = b"""
def f(x: list[int], n=-1):
    if x.sum() > 3:
        raise ValueError(f"{x[0]}")
    def g(y):
        return -y[0] + 2
    return g(x)
"""


def test_golf_counts_operations(type_grade: WarmGrade, course: Course) -> None:
    """Calls, operators, indexes, conditions; nothing of annotations and of what is raised."""
    assert count_operations(GOLF) == 3 + 3 + 1
    path = course.root / "exercises/01_basics/double/exercise.yaml"
    path.write_text(path.read_text() + "par: 3\n")
    told = type_grade("double", cwd=course.root).stdout
    assert "Golf: your functions have 2 operations (calls, operators, indexes): 1 under par." in told
