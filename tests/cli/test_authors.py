"""Commands for authors, and what all commands do in a course of which a part is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import TOTAL, WarmGrade, read, written

from grader.model.files import write_whole


@pytest.fixture
def spoiled(home: Path) -> Path:
    """The same with an exercise.yaml that is none, of an exercise in a hand-in."""
    (home / "exercises/01_basics/double/exercise.yaml").write_text("title: [\n")
    return home


def test_one_broken_exercise_stops_no_command(type_grade: WarmGrade, spoiled: Path) -> None:
    """The others are graded and listed; what is left out is named with what to mend, and grading ends with 3."""
    told = "grade: exercises/01_basics/double/exercise.yaml: line 2 is not valid YAML"
    (spoiled / "exercises/01_basics/total/total.py").write_text(TOTAL)
    graded = type_grade(cwd=spoiled)
    assert "5 / 5 points" in graded.stdout
    assert graded.returncode == 3
    assert told in graded.stderr
    assert "grade: double is left out until this is fixed" in graded.stderr
    listed = type_grade("list", cwd=spoiled)
    assert ("01-2" in listed.stdout, told in listed.stderr, listed.returncode) == (True, True, 0)
    alone = type_grade("01-2", cwd=spoiled)
    assert (alone.returncode, alone.stderr) == (0, "")
    asked = type_grade("double", cwd=spoiled)
    assert (asked.returncode, told in asked.stderr) == (2, True)
    released = type_grade("release", "../copy", cwd=spoiled)
    assert (released.returncode, told in released.stderr) == (2, True)


def test_one_broken_exercise_stops_no_batch(type_grade: WarmGrade, spoiled: Path, tmp_path: Path) -> None:
    """Of a class the others are graded, the broken one is named, and the status is 3."""
    written(tmp_path, {"class/ada/total.py": TOTAL})
    ran = type_grade("batch", "../class", "--out", "../out", "--confinement", "none", cwd=spoiled)
    assert ran.returncode == 3
    assert "5 / 5  ada" in ran.stdout
    assert "BROKEN  double was not graded" in ran.stdout


@pytest.mark.parametrize("name", ["01_basics/class", "01_basics/torch", "01_basics/2d"])
def test_new_refuses_what_students_cannot_import(type_grade: WarmGrade, home: Path, name: str) -> None:
    """A word of Python, a module of its own and what is no name are no names of exercises."""
    ran = type_grade("new", name, cwd=home)
    assert (ran.returncode, "students import it by its name" in ran.stderr) == (2, True)


@pytest.mark.parametrize("last", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_new_leaves_nothing_half_written(
    type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch, last: BaseException
) -> None:
    """Where the last file cannot be written, those before it are gone again, and course.yaml is as it was."""

    def full(path: Path, text: str) -> None:
        if path.name == "course.yaml":
            raise last
        write_whole(path, text)

    monkeypatch.setattr("grader.course.scaffold.write_whole", full)
    before = read(home)
    ran = type_grade("new", "02_more/third", cwd=home)
    assert ran.returncode == (2 if isinstance(last, OSError) else 130)
    assert ("No space left on device" in ran.stderr) == isinstance(last, OSError)
    assert read(home) == before
    assert not (home / "solutions/02_more").exists()


def test_new_keeps_what_course_yaml_is(type_grade: WarmGrade, home: Path) -> None:
    """A link stays a link, and the file that it names keeps its permissions; what exists is named with its place."""
    (home / "course.yaml").rename(home / "shared.yaml")
    (home / "shared.yaml").chmod(0o640)
    (home / "course.yaml").symlink_to("shared.yaml")
    assert type_grade("new", "02_more/third", cwd=home).returncode == 0
    assert (home / "course.yaml").is_symlink()
    assert (home / "shared.yaml").stat().st_mode & 0o777 == 0o640
    again = type_grade("new", "02_more/third", cwd=home)
    assert "the exercise third exists (course.yaml)" in again.stderr
    listed = (home / "course.yaml").read_text().replace("third]", "third, fourth]")
    assert "fourth" in listed
    (home / "shared.yaml").write_text(listed)
    elsewhere = type_grade("new", "01_basics/fourth", cwd=home)
    assert "the exercise fourth exists (course.yaml)" in elsewhere.stderr
    planned = type_grade("new", "02_more/fourth", cwd=home)
    assert (planned.returncode, (home / "course.yaml").read_text()) == (0, listed)
    assert (home / "solutions/02_more/fourth/fourth.py").is_file()
    word = type_grade("new", "02_more/lambda", cwd=home)
    assert "'lambda' is a word of Python" in word.stderr
