"""A student's checkout: which course grades it, what of it does not count."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support import COURSES

from grader.ci.job import open_checkout
from grader.intake.collect import collect_one
from grader.model import Course
from grader.model.errors import CourseError
from grader.student.given import start

DOUBLE = Path("exercises/01_basics/double/double.py")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A student's copy of the pretend course, without its solutions."""
    folder = tmp_path / "mémoire" / "hw"
    shutil.copytree(COURSES / "tiny", folder, ignore=shutil.ignore_patterns("solutions"))
    return folder


def test_the_course_is_not_the_students(home: Path, tiny: Course) -> None:
    """Named, it is another folder, also above the checkout; a folder within the checkout is refused."""
    checkout = open_checkout(home, tiny.root)
    assert (checkout.course.root, checkout.is_own) == (tiny.root, False)
    assert open_checkout(home / "exercises", None).is_own
    shutil.copytree(COURSES / "tiny", home / "course")
    for inside in (home, home / "course", home / "course" / "exercises"):
        with pytest.raises(CourseError, match="where its author can change every check"):
            open_checkout(home, inside)
    (home / "link").symlink_to(home / "course")
    with pytest.raises(CourseError, match="where its author can change every check"):
        open_checkout(home, home / "link")


def test_a_started_folder_is_graded_by_the_package(tmp_path: Path) -> None:
    """Of what `grade start` laid out the starters alone count; the checks are those of the package."""
    folder = tmp_path / "hw"
    start(COURSES / "tiny", folder)
    checkout = open_checkout(folder, None)
    assert checkout.folder == folder
    assert not checkout.is_own
    assert folder not in (checkout.course.root, *checkout.course.root.parents)


def test_a_check_that_was_changed_is_reported(home: Path, tiny: Course) -> None:
    """The course's own is used; other line ends are no change."""
    checkout, exercises = open_checkout(home, tiny.root), tiny.exercises[:1]
    checks = home / DOUBLE.with_name("check_double.py")
    for data, count in ((checks.read_bytes().replace(b"\n", b"\r\n"), 0), (b"def check_double(): pass\n", 1)):
        checks.write_bytes(data)
        notes = collect_one(checkout.folder, tiny.exercises, exercises, "a").notes.get("double", ())
        assert len([note for note in notes if note.startswith("check_double.py is not the course's")]) == count
