"""A course of more than single files: data, staff's shared code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support import COURSES

from grader.course.layout import course_files, released_files, stray_files, student_files
from grader.course.load import load_course
from grader.grading.store import Keys
from grader.model.errors import CourseError
from grader.student.folder import start, update

YAML = "exercises/01_parts/tokens/exercise.yaml"
DATA = "exercises/01_parts/tokens/data/words.txt"
SHARED = "solutions/shared/words.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the pretend course."""
    return shutil.copytree(COURSES / "parts", tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))


def test_every_file_has_its_place(root: Path) -> None:
    """Data are given out and released, shared code is staff's, and neither is a stray file."""
    course = load_course(root)
    assert stray_files(course) == []
    for files in (student_files(course), released_files(course)):
        names = {path.as_posix() for path in files}
        assert DATA in names
        assert SHARED not in names
    assert {DATA, SHARED} <= {path.as_posix() for path in course_files(course)}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ("[data/none.txt]", "files: there is no file exercises/01_parts/tokens/data/none.txt; put it there"),
        ("[data]", "files: there is no file exercises/01_parts/tokens/data; put it there"),
        ("[linked]", "files: there is no file exercises/01_parts/tokens/linked; put it there"),
        ("[tokens.py]", "files: tokens.py is the name of a file of the exercise itself"),
        ("[check_more.py]", "files: check_more.py is the name of a file of the exercise itself"),
        ("[../outer/outer.py]", "files.0: string should match pattern"),
        ("[/etc/passwd]", "files.0: string should match pattern"),
        ("[large.bin]", "files: 17.0 MiB are too much for each worker; keep to 16 MiB together"),
    ],
)
def test_a_wrong_name_is_reported(root: Path, files: str, told: str) -> None:
    """With the key, and what to do; nothing outside of the exercise's folder can be named."""
    folder = (root / YAML).parent
    (folder / "linked").symlink_to("/etc/passwd")
    with (folder / "large.bin").open("wb") as file:
        file.truncate(17 << 20)
    text = (root / YAML).read_text()
    (root / YAML).write_text(text.replace("[data/words.txt, start.bin]", files))
    with pytest.raises(CourseError) as caught:
        load_course(root)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{YAML}: {told}")


def test_data_are_laid_out_and_brought_up_to_date(root: Path, tmp_path: Path) -> None:
    """As they are, byte for byte; what a student changed in them stays, and the new version lies beside it."""
    folder = tmp_path / "student"
    start(root, folder)
    binary = "exercises/01_parts/tokens/start.bin"
    assert (folder / binary).read_bytes() == (root / binary).read_bytes()
    (folder / DATA).write_text("mine\n")
    (root / DATA).write_text("the\ndog\n")
    (root / binary).write_bytes(b"\xff\x00")
    done = update(root, folder)
    assert f"{binary} is corrected" in done
    assert any(line.startswith(f"You and the course both changed {DATA}.") for line in done)
    assert (folder / binary).read_bytes() == b"\xff\x00"


@pytest.mark.parametrize("path", [DATA, SHARED])
def test_grades_hang_on_data_and_shared_code(root: Path, path: str) -> None:
    """Where one of them is changed, a batch grades the exercise again."""
    before = Keys().judge_digest(load_course(root).exercises[1])
    (root / path).write_text((root / path).read_text() + "\n# more\n")
    assert Keys().judge_digest(load_course(root).exercises[1]) != before
