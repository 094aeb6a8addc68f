"""A void check and an extension, put into YAML files: one line changes, and whatever does not fit is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support import COURSES

from grader.course.edits import edit_to_extend, edit_to_unvoid, edit_to_void, write_edit
from grader.course.load import load_course
from grader.model.errors import CourseError

YAML = "exercises/01_basics/double/exercise.yaml"
DUE = "timezone: Europe/Berlin\nhandins:\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the pretend course."""
    return Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))


def changed(before: bytes, after: bytes) -> list[bytes]:
    """The lines that only the new file has, where all others are as before."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    added = [line for line in new if line not in old]
    assert [line for line in new if line in old] == [line for line in old if line in new]
    return added


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ("", b"void: ['random[2]']\n"),
        ("void: []\n", b"void: ['random[2]']\n"),
        ("void: [double_2]  # since Monday\n", b"void: [double_2, 'random[2]']  # since Monday\n"),
        ("void:\n- small # first\n# end\n", b"- 'random[2]'\n"),
        ("void: [small,\n  dtype, ]\n", b"  dtype, 'random[2]' ]\n"),
    ],
)
def test_a_void_check_is_one_line(root: Path, given: str, added: bytes) -> None:
    """However the list is written: comments and all other lines stay, and the course reads the check as void."""
    path = root / YAML
    path.write_bytes(path.read_bytes() + b"# of staff\n" + given.encode())
    course = load_course(root)
    edit = edit_to_void(course, course.exercises[0], "random[2]")
    assert path.read_bytes() == edit.before
    assert changed(edit.before, edit.after) == [added]
    write_edit(edit)
    assert load_course(root).exercises[0].void == edit.course.exercises[0].void
    assert "random[2]" in edit.course.exercises[0].void
    with pytest.raises(CourseError, match="is void already"):
        edit_to_void(load_course(root), load_course(root).exercises[0], "random[2]")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("void: [small]  # since Monday\n# end\n", "# end\n"),
        ("void: [double_2, small]  # since Monday\n", "void: [double_2]  # since Monday\n"),
        ("void: [small,\n  double_2, ]\n", "void: [double_2, ]\n"),
        ("void:\n- small # first\n# end\n", "# end\n"),
        ("void:\n- double_2\n# why\n- small # first\n# end\n", "void:\n- double_2\n# why\n# end\n"),
    ],
)
def test_a_void_check_counts_again(root: Path, given: str, left: str) -> None:
    """However the list is written: all else stays, the course reads that it counts, and twice is refused."""
    path = root / "exercises/01_basics/double/exercise.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text(before + given, encoding="utf-8")
    course = load_course(root)
    edit = edit_to_unvoid(course, course.exercises[0], "small")
    write_edit(edit)
    assert path.read_text(encoding="utf-8") == before + left
    assert load_course(root).exercises[0].void == edit.course.exercises[0].void
    with pytest.raises(CourseError, match="small is not void"):
        edit_to_unvoid(load_course(root), load_course(root).exercises[0], "small")


@pytest.mark.parametrize(
    ("entry", "added"),
    [
        (
            "  - id: w\n    title: W\n    exercises: [double]\n    due: 2026-10-01 18:00 # noon\n",
            "    extensions: {ada: '2026-10-08 18:00'}",
        ),
        (
            "- id: w\n  title: W\n  exercises: [double]\n  due: 2026-10-01\n  extensions:\n    bo: 2026-10-02 # ill\n",
            "    ada: 2026-10-08 18:00",
        ),
        (
            "- {id: w, title: W, exercises: [double], due: 2026-10-01}\n",
            "- {id: w, title: W, exercises: [double], due: 2026-10-01, extensions: {ada: '2026-10-08 18:00'}}",
        ),
        (
            "- id: w\n  title: W\n  exercises: [double]\n  extensions: {ADA: 2026-10-02, 101: 2026-10-04}",
            "  extensions: {ADA: '2026-10-08 18:00', 101: 2026-10-04}",
        ),
        (
            "- id: w\r\n  title: W\r\n  exercises: [double]\r\n  extensions:\r\n    Ada: 2026-10-02\r\n",
            "    Ada: '2026-10-08 18:00'\r",
        ),
    ],
)
def test_an_extension_is_one_line(root: Path, entry: str, added: str) -> None:
    """However hand-ins are written; a date that somebody has already is replaced, in upper or lower case."""
    path = root / "course.yaml"
    head = path.read_bytes().partition(b"handins:")[0] + b"# of staff\n"
    path.write_bytes(head + DUE.encode() + entry.encode())
    course = load_course(root)
    edit = edit_to_extend(course, course.handins[0], "ada", "2026-10-08T18:00", lambda name: name.casefold() == "ada")
    assert [line.rstrip(b"\n").decode() for line in changed(edit.before, edit.after)] == [added]
    write_edit(edit)
    assert load_course(root).handins == edit.course.handins
    (until,) = {until for name, until in edit.course.handins[0].extensions.items() if name.casefold() == "ada"}
    assert until.isoformat() == "2026-10-08T18:00:00+02:00"


def test_what_cannot_be_changed_alone_is_refused(root: Path) -> None:
    """An alias would give somebody else the date, too: the sentence says what to write by hand."""
    path = root / "course.yaml"
    entries = "- &one\n  id: w\n  title: W\n  exercises: [double]\n  extensions: &both {bo: 2026-10-02}\n"
    entries += "- id: v\n  title: V\n  exercises: [double]\n  extensions: *both\n"
    path.write_bytes(path.read_bytes().partition(b"handins:")[0] + DUE.encode() + entries.encode())
    course, before = load_course(root), path.read_bytes()
    with pytest.raises(CourseError, match="write  ada: 2026-10-08  below  extensions:  of w by hand"):
        edit_to_extend(course, course.handins[0], "ada", "2026-10-08", lambda name: name == "ada")
    with pytest.raises(CourseError, match="expected a date such as"):
        edit_to_extend(course, course.handins[0], "ada", "soon", lambda name: name == "ada")
    assert path.read_bytes() == before


def test_a_file_that_somebody_changed_is_not_written(root: Path) -> None:
    """Between the moment when the change was worked out and the one when it is written."""
    course, path = load_course(root), root / YAML
    edit = edit_to_void(course, course.exercises[0], "small")
    path.write_bytes(path.read_bytes() + b"# another person\n")
    with pytest.raises(CourseError, match="was changed since this was shown; nothing was saved"):
        write_edit(edit)
    assert b"void" not in path.read_bytes()
