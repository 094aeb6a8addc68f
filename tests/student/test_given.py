"""A course laid out in a student's folder, and brought up to date there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import COURSES, RIGHT, TOTAL, WarmGrade, add_module

from grader.course import files, layout, load
from grader.course.load import load_course
from grader.model.errors import CourseError
from grader.student.folder import changed_checks, is_behind, start, update

DOUBLE = Path("exercises/01_basics/double/double.py")
CHECKS = Path("exercises/01_basics/double/check_double.py")
NOTHING = [
    "Your folder is up to date with the installed course. "
    "For a newer course, upgrade tensorgrade, then run  grade update."
]
YOURS = "Your own files are unchanged."


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the pretend course, which stands for the bundled one."""
    copy = Path(shutil.copytree(COURSES / "tiny", tmp_path / "source"))
    monkeypatch.setattr(layout, "bundled_course", lambda: copy)
    return copy


@pytest.fixture
def home(source: Path, tmp_path: Path) -> Path:
    """A student's folder, just made."""
    start(source, tmp_path / "my course")
    return tmp_path / "my course"


def mend(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_student_gets_no_solutions_and_all_checks(home: Path, source: Path) -> None:
    """The folder holds what students see and nothing else; hidden checks and reference are those of the source."""
    files = sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    assert files == [
        ".grade-given.json",
        "course.yaml",
        "exercises/01_basics/double/check_double.py",
        "exercises/01_basics/double/double.py",
        "exercises/01_basics/double/exercise.yaml",
        "exercises/01_basics/total/check_total.py",
        "exercises/01_basics/total/exercise.yaml",
        "exercises/01_basics/total/total.py",
        "exercises/topics.yaml",
    ]
    double, _ = load_course(home).exercises
    assert double.hidden_checks == source / "solutions/01_basics/double/check_double.py"
    assert double.reference == source / "solutions/01_basics/double/double.py"
    assert double.starter == home / DOUBLE


def test_solutions_are_closed_to_student_code(home: Path, source: Path) -> None:
    """Of the course in hand and of the bundled one, no folder may be seen from a worker."""
    (double, _) = load_course(home).exercises
    assert home / "exercises" in double.closed
    package = Path(layout.__file__).resolve().parents[2]
    assert {package / "exercises", package / "solutions"} <= set(double.closed)
    assert {source / "exercises", source / "solutions"} <= set(load_course(source).exercises[0].closed)


def test_pages_come_without_ids_of_topics(source: Path, tmp_path: Path) -> None:
    """They are for the course map; nor is what an update compares with another text."""
    (source / layout.page_of("01_basics")).write_text("# Basics\n\nDoubling.\n\nTopics: T2\n")
    start(source, tmp_path / "mine")
    assert (tmp_path / "mine" / layout.page_of("01_basics")).read_text() == "# Basics\n\nDoubling.\n"
    assert update(source, tmp_path / "mine") == NOTHING and not is_behind(tmp_path / "mine")


def test_folders_that_cannot_be_taken(source: Path, home: Path, tmp_path: Path) -> None:
    """It says what is there and what to do, and writes nothing; what begins with a dot is not in the way."""
    used = tmp_path / "used"
    for name in (".git", ".venv"):
        (used / name).mkdir(parents=True)
    for there in ("notes.txt", "course.yaml"):
        (used / there).write_text("mine")
        with pytest.raises(CourseError, match=f"is not empty \\(it has {there}\\).*choose a new folder"):
            start(source, used)
        (used / there).unlink()
    assert {path.name for path in used.iterdir()} == {".git", ".venv"}
    assert len(start(source, used).exercises) == 2
    with pytest.raises(CourseError, match="has the course already"):
        start(source, home)
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="is a file; choose a new name"):
        start(source, tmp_path / "file")
    with pytest.raises(CourseError, match=r"cannot be written to .Not a directory"):
        start(source, tmp_path / "file" / "below")


def test_update_brings_what_was_fixed(home: Path, source: Path) -> None:
    """Untouched files become the new ones, also with other line ends; new ones come; then nothing is left to do."""
    assert update(source, home) == NOTHING
    assert not is_behind(home)
    mend(source / CHECKS, "# better\n")
    mend(source / DOUBLE, "# better\n")
    (home / DOUBLE).write_bytes((home / DOUBLE).read_bytes().replace(b"\n", b"\r\n"))
    (source / "exercises/01_basics/README.md").write_text("A page.\n")
    assert is_behind(home)
    assert set(update(source, home)) == {
        f"{CHECKS.as_posix()} is corrected",
        f"{DOUBLE.as_posix()} is corrected",
        "exercises/01_basics/README.md is new",
        YOURS,
    }
    assert (home / DOUBLE).read_text().endswith("# better\n")
    assert update(source, home) == NOTHING
    assert not is_behind(home)


def test_update_never_writes_over_the_students_work(home: Path, source: Path) -> None:
    """Where both changed a file, the student's stays, and the new one lies beside it, once."""
    (home / DOUBLE).write_text("mine = 1\n")
    assert update(source, home) == NOTHING
    mend(source / DOUBLE, "# better\n")
    beside = f"You and the course both changed {DOUBLE.as_posix()}. The new version is beside it: double.py.new"
    assert update(source, home) == [beside, f"{YOURS} Copy what you want from the .new files, then delete them."]
    assert (home / DOUBLE).read_text() == "mine = 1\n"
    new = home / f"{DOUBLE}.new"
    assert new.read_text() == (source / DOUBLE).read_text()
    new.unlink()
    assert update(source, home) == NOTHING
    assert not new.exists()


def test_update_restores_what_is_missing(home: Path, source: Path) -> None:
    """A folder that was laid out by half, or of which files were deleted, becomes whole."""
    (home / CHECKS).unlink()
    shutil.rmtree(home / "exercises/01_basics/total")
    (home / "course.yaml").unlink()
    assert {line.rpartition(" ")[2] for line in update(source, home)[:-1]} == {"new"}
    assert len(load_course(home).exercises) == 2


def test_update_when_an_exercise_is_gone(home: Path, source: Path) -> None:
    """What the student did with it stays; files that nobody touched go."""
    (home / "exercises/01_basics/total/total.py").write_text("mine = 1\n")
    path = source / "course.yaml"
    path.write_text(path.read_text().replace("[double, total]", "[double]"))
    total, gone = "exercises/01_basics/total", "is removed: the course no longer has it"
    assert set(update(source, home)) == {
        "course.yaml is corrected",
        f"{total}/total.py stays: the course no longer has it, but you changed it",
        f"{total}/check_total.py {gone}",
        f"{total}/exercise.yaml {gone}",
        YOURS,
    }
    assert (home / total / "total.py").read_text() == "mine = 1\n"
    assert not (home / total / "check_total.py").exists()
    assert update(source, home) == NOTHING


@pytest.mark.parametrize(
    "note", ["", "[]", '{"files": 3}', '{"files": {"../../secret": "x", "../outside.txt": "2d711642b726b044"}}']
)
def test_damaged_note_overwrites_nothing(home: Path, source: Path, note: str) -> None:
    """Without knowing what was given, all that differs is the student's; no path leads out of the folder."""
    (home.parent / "outside.txt").write_text("x")
    (home / DOUBLE).write_text("mine = 1\n")
    (home / layout.GIVEN).write_text(note)
    beside = f"You and the course both changed {DOUBLE.as_posix()}. The new version is beside it: double.py.new"
    assert update(source, home) == [beside, f"{YOURS} Copy what you want from the .new files, then delete them."]
    assert (home / DOUBLE).read_text() == "mine = 1\n"
    assert (home.parent / "outside.txt").exists()
    assert "course.yaml" in json.loads((home / layout.GIVEN).read_text())["files"]


def test_a_changed_check_is_noticed_and_restored(home: Path, source: Path) -> None:
    """A check that the student changed comes back with an update; the changed one stays beside it."""
    mend(home / CHECKS, "# easier\n")
    course = load_course(home)
    double = course.exercises[0]
    assert changed_checks(course, double) == [CHECKS]
    restored = f"{CHECKS.as_posix()} is restored; your version is beside it, as check_double.py.old"
    assert update(source, home) == [restored, YOURS]
    assert (home / CHECKS).read_text() == (source / CHECKS).read_text()
    assert (home / f"{CHECKS}.old").read_text().endswith("# easier\n")
    assert changed_checks(course, double) == []


def test_update_elsewhere(source: Path, tmp_path: Path, home: Path) -> None:
    """A course of one's own, and a folder without any, are left alone; a course file that is gone names the command."""
    with pytest.raises(CourseError, match="has a course of its own"):
        update(source, source)
    with pytest.raises(CourseError, match="has no course"):
        update(source, tmp_path)
    (home / "course.yaml").unlink()
    with pytest.raises(CourseError, match=r"is missing\. To restore it:  grade update"):
        layout.find_course(home / "exercises")
    with pytest.raises(CourseError, match="there is no course here"):
        layout.find_course(home.parent)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders of which the YAML file is read."""
    noted: list[str] = []

    def reading(path: Path, *rest: Any) -> Any:
        noted.append(path.parent.name)
        return usual(path, *rest)

    usual = files.read_file
    monkeypatch.setattr(load, "read_file", reading)
    return noted


def test_what_is_named_is_read_alone(type_grade: WarmGrade, home: Path, source: Path, read: list[str]) -> None:
    """`grade EX` reads no other exercise until it has full marks; then it says which one comes next."""
    (home / DOUBLE).write_text(RIGHT.replace("2 * x", "3 * x"))
    for name in ("double", DOUBLE.as_posix()):
        assert type_grade(name, cwd=home).returncode == 1
        assert read == [home.name, "double"]
        read.clear()
    (home / DOUBLE).write_text(RIGHT)
    assert type_grade("double", cwd=home).stdout.endswith("Next: 01-2 Sum without a loop:  grade next\n")
    assert read == [home.name, "double", home.name, "double", "total"]
    assert type_grade("1-1", cwd=home).stdout.startswith("01-1 ")
    assert type_grade("dubble", cwd=home).stderr.endswith("did you mean double?\n")
    assert not load_course(home, named=["double"]).exercises[0].lints  # nobody here can change its checks
    assert load_course(source).exercises[0].lints


def test_no_module_is_read_before_it_is_reached(
    type_grade: WarmGrade, source: Path, tmp_path: Path, read: list[str]
) -> None:
    """What comes next is in the module of an exercise with full marks, else in the next module; at the end, in none."""
    add_module(source)
    start(source, home := tmp_path / "mine")
    (home / DOUBLE).write_text(RIGHT)
    read.clear()
    assert type_grade("double", cwd=home).stdout.endswith("Next: 01-2 Sum without a loop:  grade next\n")
    assert read == [home.name, "double", home.name, "double", "total"]
    (home / "exercises/01_basics/total/total.py").write_text(TOTAL)
    read.clear()
    assert type_grade("total", cwd=home).stdout.endswith("Next: 02-1 Sum without a loop:  grade next\n")
    assert read == [home.name, "total", home.name, "double", "total", home.name, "again"]
    (home / "exercises/02_more/again/again.py").write_text(TOTAL)
    assert "You have finished A tiny course: 3 exercises, " in type_grade("again", cwd=home).stdout
    read.clear()
    assert type_grade("02_more", cwd=home).stdout.startswith("02-1 ")
    assert read[:2] == [home.name, "again"]


@pytest.mark.parametrize("name", ["course.yaml", "exercises/01_basics/double/exercise.yaml"])
def test_a_description_that_cannot_be_read_is_restored(
    type_grade: WarmGrade, source: Path, home: Path, name: str
) -> None:
    """Written by an older version, or spoiled by hand: the message names the command that helps, and it does help."""
    mend(home / name, "colour: red\n")
    for words in (["double"], ["list"]):
        refused = type_grade(*words, cwd=home)
        assert f"grade: {name}: colour: unknown key" in refused.stderr
        assert "To restore it:  grade update" in refused.stderr
    assert update(source, home) == [f"{name} is restored; your version is beside it, as {Path(name).name}.old", YOURS]
    assert [exercise.id for exercise in load_course(home).exercises] == ["double", "total"]


def test_the_number_of_an_exercise_that_cannot_be_used(type_grade: WarmGrade, home: Path) -> None:
    """It is written in that file, so a number that is missing is answered with what is wrong there."""
    mend(home / "exercises/01_basics/double/exercise.yaml", "colour: red\n")
    refused = type_grade("01-1", cwd=home)
    assert "there is no exercise or command '01-1'" in refused.stderr
    assert "exercises/01_basics/double/exercise.yaml: colour: unknown key" in refused.stderr
