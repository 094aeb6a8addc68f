"""Which exercises there are, where the student stands, what comes next, and what is shown of a task."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from support import add_module

from grader.course.load import load_course
from grader.model import Course
from grader.model.errors import CourseError
from grader.report.safe import column_count
from grader.student.folder import CourseProgress, ExerciseProgress, restore_starter, save_starters, write_progress
from grader.student.list_page import list_data, list_lines, next_exercise_lines
from grader.student.rows import Row, filter_rows, next_row, rows_of
from grader.student.task_page import show_lines

DONE = ExerciseProgress("done", 10, solved=True)


@pytest.fixture
def course(home: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """The pretend course with a third exercise, in a module of its own."""
    add_module(home)
    monkeypatch.chdir(home / "exercises" / "01_basics")
    return load_course(home)


def begin(course: Course, *ids: str) -> None:
    """Change the files of some exercises."""
    for exercise in course.exercises:
        if exercise.id in ids:
            exercise.starter.write_text(exercise.starter.read_text() + "x = 1\n")


def states(course: Course, progress: CourseProgress) -> list[str]:
    write_progress(course, progress)
    return [row.state for row in rows_of(course)]


def test_files_tell_what_was_begun(course: Course) -> None:
    """A changed file is started; a starter is not, whatever was noted of it; when all is solved, nothing is next."""
    assert states(course, CourseProgress()) == ["not_started"] * 3
    begin(course, "total")
    assert states(course, CourseProgress()) == ["not_started", "started", "not_started"]
    assert states(course, CourseProgress({"double": DONE})) == ["not_started", "started", "not_started"]
    begin(course, "double", "total", "again")
    write_progress(course, CourseProgress({exercise.id: DONE for exercise in course.exercises}))
    assert next_row(course) is None
    course.exercises[1].starter.unlink()
    assert states(course, CourseProgress()) == ["started", "not_started", "started"]


def test_fast_track(course: Course) -> None:
    """Who has solved the last exercise of a module knows the others of it, unless they were begun."""
    begin(course, "total")
    progress = CourseProgress({"total": DONE}, "total")
    write_progress(course, progress)
    rows = rows_of(course)
    assert [(row.state, row.is_on_fast_track) for row in rows] == [
        ("known", False),
        ("done", True),
        ("not_started", True),
    ]
    following = next_row(course)
    assert following is not None
    assert following.exercise.id == "again"
    begin(course, "double")
    assert states(course, progress)[0] == "started"


@pytest.mark.parametrize(
    ("last", "solved", "start", "expected"),
    [
        ("", "", None, "double"),
        ("total", "", None, "total"),
        ("double", "double", None, "total"),
        ("again", "again", None, "double"),
        ("double", "", "2", "again"),
        ("", "", "01-2", "total"),
        ("removed", "", None, "double"),
    ],
)
def test_next(course: Course, last: str, solved: str, start: str | None, expected: str) -> None:
    """The exercise in hand until it is solved, then the one after it, round the course; or from another on."""
    begin(course, solved)
    write_progress(course, CourseProgress({solved: DONE} if solved else {}, last))
    found = next_row(course, start)
    assert found is not None
    assert found.exercise.id == expected


@pytest.mark.parametrize(
    ("names", "topic", "chosen_states", "expected"),
    [
        ((), None, (), ["double", "total", "again"]),
        (("01",), None, (), ["double", "total"]),
        (("02_more", "1-1"), None, (), ["double", "again"]),
        ((), "t2", (), ["again"]),
        ((), "STRIDES", (), ["again"]),
        ((), None, ("started",), ["total"]),
        ((), None, ("started", "not-started"), ["double", "total", "again"]),
        (("02",), "T1", (), []),
    ],
)
def test_chosen(
    course: Course, names: tuple[str, ...], topic: str | None, chosen_states: tuple[str, ...], expected: list[str]
) -> None:
    """Names, topic and states choose together; a topic goes by its id or by words of its name."""
    begin(course, "total")
    rows = filter_rows(course, rows_of(course), names, topic, chosen_states)
    assert [row.exercise.id for row in rows] == expected


def test_list_in_80_and_in_40_columns(course: Course) -> None:
    """State and points of each exercise below its module; a narrow terminal gets two lines for each."""
    rows = rows_of(course)
    wide = [click.unstyle(line) for line in list_lines(course, rows, 80)]
    assert wide == [
        "Basics",
        "  01-1    Double it                            not started       0 / 10",
        "  01-2  * Sum without a loop                   not started        0 / 5",
        "More",
        "  02-1  * Sum without a loop                   not started        0 / 5",
        "0 of 3 done, 0 / 20 points",
        "* fast track: if you solve this one, you may skip the rest of its module",
    ]
    narrow = [click.unstyle(line) for line in list_lines(course, rows, 40)]
    assert max(map(len, narrow)) <= 40
    assert narrow[1:3] == ["  01-1    Double it", "          not started             0 / 10"]
    write_progress(course, CourseProgress({"double": ExerciseProgress(tries=2, hints=1)}))
    data = list_data(course, rows_of(course))
    row: dict[str, Any] = {"id": "double", "number": "01-1", "title": "Double it", "module": "01_basics"}
    row |= {"state": "not_started", "fast_track": False, "difficulty": 1, "minutes": None, "topics": ["T1"]}
    row |= {"earned": 0.0, "possible": 10.0, "solved": False, "tries": 2, "hints": 1}
    row |= {"path": "exercises/01_basics/double/double.py"}
    assert data["exercises"][0] == row


def test_list_of_wide_titles_is_aligned(course: Course) -> None:
    """A title in Chinese takes two columns for each character: states and points stand where those of others do."""
    file = course.exercises[0].folder / "exercise.yaml"
    file.write_text(file.read_text().replace("Double it", "\u628a\u5f20\u91cf\u52a0\u500d"))
    course = load_course(course.root)
    lines = [click.unstyle(line) for line in list_lines(course, rows_of(course), 80)]
    assert [column_count(line[: line.index("not started")]) for line in lines if "not started" in line] == [47] * 3


def test_task_as_it_is_shown(course: Course) -> None:
    """Where it is, its text in lines of the terminal's width; with `--rules` what rules cost, and checks."""
    double = course.exercises[0]
    lines = [click.unstyle(line) for line in show_lines(double, 80)]
    assert lines == [
        "01-1 Double it",
        "  implement, difficulty 1 of 4, 10 points",
        "  double/double.py",
        "",
        "C1  `double(x)` returns a new tensor with every element doubled.",
        "C2  The dtype stays as it is.",
        "C3  `double_(x)` doubles x in place and returns x.",
    ]
    lines = [click.unstyle(line) for line in show_lines(replace(double, caps={"C1": 300}), 80, rules=True)]
    assert lines[7:] == [
        "",
        "Where marks are given: if you break C1, you get at most 3 points.",
        "",
        "Checks that you can read:",
        "  double/check_double.py",
        "  C1  Doubles three numbers",
        "  C3  Doubles in place",
        "Hidden checks examine the same rules on other inputs.",
    ]
    narrow = [click.unstyle(line) for line in show_lines(double, 40)]
    assert "C1  `double(x)` returns a new tensor" in narrow
    assert "    with every element doubled." in narrow
    assert max(map(len, narrow)) <= 40


def test_examples_in_a_task_stay_as_they_are(course: Course) -> None:
    """Paragraphs and rules are set anew, lines of code are not."""
    double = course.exercises[0]
    code = f"    >>> double(torch.tensor([{', '.join('1' * 20)}]))"
    text = f'"""Double it\n\nOne\ntwo.\n\nC1  A rule\n    that goes on.\nC2  Another.\n\n{code}\n    tensor(2)\n"""\n'
    double.starter.write_text(text)
    lines = list(show_lines(load_course(course.root).exercises[0], 40))[5:]
    assert lines[:7] == ["One two.", "", "C1  A rule that goes on.", "C2  Another.", "", code, "    tensor(2)"]


def test_a_rule_keeps_its_code_and_its_list(course: Course) -> None:
    """Lines that are indented further than the text of their rule stay, and so do the items of a list."""
    double = course.exercises[0]
    rule = "C1  Write this and that,\n    in order:\n      for i in x:\n          double(i)\n"
    rule += "    - one that is too long,\n    and on\n    - two"
    double.starter.write_text(f'"""Double it\n\n{rule}\nC2  Another.\n"""\n')
    lines = list(show_lines(load_course(course.root).exercises[0], 30))
    assert lines[lines.index("") + 1 :] == [
        "C1  Write this and that, in",
        "    order:",
        "      for i in x:",
        "          double(i)",
        "    - one that is too long,",
        "      and on",
        "    - two",
        "C2  Another.",
    ]


def test_examples_are_drawn(course: Course) -> None:
    """Tensors on one storage stand below the task; a window that is larger than the storage is refused."""
    file = course.exercises[0].folder / "exercise.yaml"
    file.write_text(file.read_text() + 'example: {storage: 4, views: {"x[0]": {shape: [2], strides: [2]}}}\n')
    lines = list(show_lines(load_course(course.root).exercises[0], 80))
    place = lines.index("x[0]: shape (2,), strides (2,), offset 0")
    assert (lines[place - 1], lines[place + 3]) == ("", "  │ 0 │   │ 1 │   │")
    file.write_text(file.read_text().replace("storage: 4", "storage: 2"))
    with pytest.raises(CourseError, match=r"x\[0\] needs a `storage` of 3 elements or more"):
        load_course(course.root)


@pytest.mark.parametrize("text", [b'"""Task\n', b"x = 1\n", b"\x00\xff", b"", None])
def test_task_of_a_file_in_pieces(course: Course, text: bytes | None) -> None:
    """The task, and the rules that messages cite, are then those of another copy; without one it is told what to do."""
    double, rules = course.exercises[0], course.exercises[0].contract
    save_starters(course)
    double.starter.unlink()
    if text is not None:
        double.starter.write_bytes(text)
    again = load_course(course.root).exercises[0]
    assert "C2  The dtype stays as it is." in list(show_lines(again, 80))
    assert again.contract == rules
    shutil.rmtree(course.root / ".grade")
    with pytest.raises(CourseError, match="is missing, or has lost its task"):
        list(show_lines(load_course(course.root).exercises[0], 80))


def test_next_as_it_is_shown(course: Course) -> None:
    """The next exercise with its path and command."""
    row = Row(course.exercises[0], ExerciseProgress())
    assert [click.unstyle(line) for line in next_exercise_lines(row, 80)] == [
        "01-1 Double it",
        "  implement, difficulty 1 of 4, 10 points",
        "  double/double.py",
        "Read the task at its top, change what is marked TODO, save, then run",
        "  grade double",
        "To open the file:  grade open",
    ]


def test_reset_keeps_the_old_file(course: Course) -> None:
    """The starter comes back from the copy of when it was untouched; each old file gets a name of its own."""
    double = course.exercises[0]
    text = double.starter.read_text()
    with pytest.raises(CourseError, match="no copy of the starter of double is here"):
        list(restore_starter(course, double))
    save_starters(course)
    with pytest.raises(CourseError, match="is the starter already"):
        list(restore_starter(course, double))
    for number, name in enumerate(("double.py.old", "double.py.old1")):
        double.starter.write_text(f"mine = {number}\n")
        assert any(name in text for text in restore_starter(course, double))
        assert double.starter.with_name(name).read_text() == f"mine = {number}\n"
        assert double.starter.read_text() == text
    double.starter.unlink()
    assert len(list(restore_starter(course, double))) == 1
    assert double.starter.read_text() == text


def test_a_changed_file_is_never_kept_as_the_starter(course: Course) -> None:
    """Neither when copies are made, nor when somebody changed the copy."""
    begin(course, "double")
    save_starters(course)
    double, total, _ = course.exercises
    with pytest.raises(CourseError, match="no copy of the starter of double"):
        list(restore_starter(course, double))
    begin(course, "total")
    (course.root / ".grade/starters/total.py").write_text("x = 1\n")
    with pytest.raises(CourseError, match="no copy of the starter of total"):
        list(restore_starter(course, total))
