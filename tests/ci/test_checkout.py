"""A student's checkout: which course grades it, what changed, what of it does not count."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from support import COURSES, commit, git

from grader.ci.job import Checkout, changed_exercises, open_checkout
from grader.intake.collect import collect_one
from grader.model import Course
from grader.model.errors import CourseError
from grader.student.folder import start

DOUBLE = "exercises/01_basics/double/double.py"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A student's copy of the pretend course, without its solutions, under version control."""
    folder = tmp_path / "mémoire" / "hw"
    shutil.copytree(COURSES / "tiny", folder, ignore=shutil.ignore_patterns("solutions"))
    git(folder, "init", "-q")
    commit(folder, {})
    return folder


def changed(checkout: Checkout, since: str = "HEAD") -> list[str]:
    exercises = checkout.course.exercises
    submission = collect_one(checkout.folder, exercises, exercises, "a")
    return [exercise.id for exercise in changed_exercises(checkout, submission, since)]


def test_the_course_is_not_the_students(home: Path, tiny: Course) -> None:
    """Named, it is another folder, also above the checkout; a folder within the checkout is refused."""
    checkout = open_checkout(home, tiny.root)
    assert (checkout.course.root, checkout.has_own_checks) == (tiny.root, False)
    assert open_checkout(home / "exercises", None).has_own_checks
    shutil.copytree(COURSES / "tiny", home / "course")
    (home / "link").symlink_to(home / "course")
    for inside in (home, home / "course", home / "course" / "exercises", home / "link"):
        with pytest.raises(CourseError, match="where its author can change every check"):
            open_checkout(home, inside)


def test_a_started_folder_is_graded_by_the_package(tmp_path: Path) -> None:
    """Of what `grade start` laid out the starters alone count; the checks are those of the package."""
    folder = tmp_path / "hw"
    start(COURSES / "tiny", folder)
    checkout = open_checkout(folder, None)
    assert checkout.folder == folder
    assert not checkout.has_own_checks
    assert folder not in (checkout.course.root, *checkout.course.root.parents)


def test_a_check_that_was_changed_is_reported(home: Path, tiny: Course) -> None:
    """The course's own is used; other line ends are no change."""
    checkout, exercises = open_checkout(home, tiny.root), tiny.exercises[:1]
    checks = (home / DOUBLE).with_name("check_double.py")
    for data, count in ((checks.read_bytes().replace(b"\n", b"\r\n"), 0), (b"def check_double(): pass\n", 1)):
        checks.write_bytes(data)
        notes = collect_one(checkout.folder, tiny.exercises, exercises, "a").exercises["double"].notes
        assert len([note for note in notes if note.startswith("check_double.py is not the course's")]) == count


def test_what_changed(home: Path, tiny: Course) -> None:
    """An exercise whose file, or a module beside it, was committed otherwise."""
    checkout = open_checkout(home, tiny.root)
    assert changed(checkout) == []
    commit(home, {DOUBLE: "def double(x): return 2 * x\n", "notes.md": "mine\n"})
    assert changed(checkout, "HEAD~1") == ["double"]
    commit(home, {"exercises/01_basics/total/größe neu.py": "one = 1\n"})
    assert changed(checkout, "HEAD~1") == ["total"]
    # The commit of zeros, which platforms name for a new branch, stands before everything.
    assert changed(checkout, "HEAD~2") == changed(checkout, "0" * 40) == ["double", "total"]


def test_a_notebook_and_a_zip_that_changed(home: Path, tiny: Course) -> None:
    """Are of their exercises, also where the zip has folders, and where a browser named the file."""
    text = "def {}(x): return 0\n"
    shutil.rmtree(home / "exercises")
    commit(home, {})
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.format("double")}
    commit(home, {"week1.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4})})
    (home / "week2").mkdir()
    with zipfile.ZipFile(home / "week2" / "hw.zip", "w") as archive:
        archive.writestr("my work/total.py", text.format("total"))
    commit(home, {})
    checkout = open_checkout(home / "week2", tiny.root)
    assert changed(checkout, "HEAD~1") == ["total"]
    (home / "course.yaml").unlink()
    checkout = open_checkout(home, tiny.root)
    assert [changed(checkout, since) for since in ("HEAD", "HEAD~1", "HEAD~2")] == [[], ["total"], ["double", "total"]]
    (home / "week1.ipynb").rename(home / "notes.ipynb.bak")
    commit(home, {"Double.py.txt": text.format("double")})
    assert changed(checkout, "HEAD~1") == ["double"]


def test_what_changed_and_cannot_be_read(home: Path, tiny: Course) -> None:
    """Is graded, so that its author reads why: a file that is not a zip, a file that is too large."""
    shutil.rmtree(home / "exercises")
    (home / "course.yaml").unlink()
    commit(home, {})
    checkout = open_checkout(home, tiny.root)
    commit(home, {"hw.zip": b"no zip"})
    assert "double" in changed(checkout, "HEAD~1")
    (home / "hw.zip").unlink()
    commit(home, {"week1/double.py": b"#" * (2 << 20)})
    assert changed(checkout, "HEAD~1") == ["double"]


def test_a_repository_runs_nothing(home: Path, tiny: Course) -> None:
    """Programs that a student's repository names are not run: monitors, filters, differs, pagers."""
    mark = home.parent / "ran"
    program = home.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    program.chmod(0o755)
    commit(home, {".gitattributes": "*.py diff=odd filter=odd\n", DOUBLE: "one = 1\n"})
    (home / DOUBLE).write_text("two = 2\n")
    odd = ("diff.odd.textconv", "diff.odd.command", "filter.odd.clean")
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", *odd):
        git(home, "config", name, str(program))
    mark.unlink(missing_ok=True)
    assert changed(open_checkout(home, tiny.root), "HEAD~1") == ["double"]
    assert not mark.exists()


@pytest.mark.parametrize("since", ["nowhere", "--output=x", "", "1" * 40])
def test_a_commit_that_git_does_not_know(home: Path, tiny: Course, since: str) -> None:
    """The command is wrong: the message says what to do, and git never takes the name for an option."""
    with pytest.raises(CourseError, match=r"git knows no commit .* here; check the name"):
        changed(open_checkout(home, tiny.root), since)
    assert not (home / "x").exists()


def test_a_checkout_that_git_cannot_compare(home: Path, tiny: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names what it is: a shallow clone, somebody else's folder, no repository."""
    commit(home, {DOUBLE: "one = 1\n"})
    git(home.parent, "clone", "-q", "--depth", "1", f"file://{home}", "shallow")
    with pytest.raises(CourseError, match="this clone is shallow and lacks 'HEAD~1'; fetch all commits"):
        changed(open_checkout(home.parent / "shallow", tiny.root), "HEAD~1")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(CourseError, match=r"another user owns .* safe\.directory"):
        changed(open_checkout(home, tiny.root), "HEAD")
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    shutil.rmtree(home / ".git")
    with pytest.raises(CourseError, match="is not in a git repository"):
        changed(open_checkout(home, tiny.root), "HEAD")
