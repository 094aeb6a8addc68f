"""What one author handed in → the one file of each exercise that counts, and what could not be matched."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from support import files_in, problems_in, written

from grader.intake.collect import collect, collect_one
from grader.intake.contents import Handed, Part, Unmatched
from grader.model import Course, Submission
from grader.model.errors import SubmissionError


def collected(course: Course, folder: Path, files: dict[str, bytes]) -> tuple[list[Submission], list[Unmatched]]:
    folder.mkdir(exist_ok=True)
    handed = Handed("ada", ("ada",), (Part(written(folder, files)),))
    return collect(handed, course.exercises, course.exercises[:1], with_earlier_attempts=True)


STUB = b"def %s(x):\n    raise NotImplementedError\n"
STARTER = b'"""Other words."""\n' + STUB % b"double" + STUB % b"double_"


@pytest.mark.parametrize(
    ("files", "counts"),
    [
        ({"double.py": b"x = 1", "double (1).py": b"x = 2"}, ["double (1).py", "double.py"]),
        ({"double-2.py": b"x = 1", "double-10.py": b"x = 2"}, ["double-10.py", "double-2.py"]),
        ({"try_1/double.py": b"x = 1", "try_2/double.py": b"x = 2"}, ["try_2/double.py", "try_1/double.py"]),
        ({"09_basics/double.py": b"x = 1", "3/double.py": b"x = 2"}, ["3/double.py", "09_basics/double.py"]),
        ({"double.py": b"x = 1", "Double.py": b"x = 2"}, ["double.py", "Double.py"]),
        ({"double.py": b"x = 1", "a/b/double.py": b"x = 2"}, ["double.py", "a/b/double.py"]),
        ({"double (1).py": STARTER, "double.py": b"x = 2"}, ["double.py", "double (1).py"]),
        ({"double (1).py": b"x = 1", "double.py": b"x = 1"}, ["double (1).py"]),
        ({"double.py": b"def double(x): 1", "other.py": b"def double(x): 0\ndef double_(x): 0"}, ["double.py"]),
        ({"double.py": b"x = 1", "other.py": b"def double(x): 0\ndef double_(x): 0"}, ["other.py", "double.py"]),
        ({"other.py": b"def double(x): 0\ndef double_(x): 0"}, ["other.py"]),
    ],
)
def test_which_file_counts(tiny: Course, tmp_path: Path, files: dict[str, bytes], counts: list[str]) -> None:
    """A touched one before the starter, the latest by its name, then the highest; contents where no name says it."""
    submissions, _ = collected(tiny, tmp_path, files)
    assert [item.exercises["double"].files["double.py"] for item in submissions] == [files[name] for name in counts]
    notes = " ".join(submissions[0].exercises["double"].notes)
    assert all(name in notes for name in counts[1:])
    assert counts == ["double.py"] or re.search(rf"(taken from|versions:) {re.escape(counts[0])}", notes)


def test_modules_of_the_students_own_come_along(tiny: Course, tmp_path: Path) -> None:
    """Those beside the file that counts, but no other attempt at it and no check of ours; elsewhere they are told."""
    files = {"double.py": b"1", "double-1.py": b"2", "help.py": b"3", "check_double.py": b"4", "more/deep.py": b"5"}
    submissions, unmatched = collected(tiny, tmp_path, files)
    assert submissions[0].exercises["double"].files == {"double.py": b"2", "help.py": b"3"}
    why = "it has neither the name nor the functions of an exercise"
    assert unmatched == [Unmatched("more/deep.py", "ada", why)]


def test_an_exercise_that_is_not_asked_for(tiny: Course, tmp_path: Path) -> None:
    """Its file is of it, and neither missing, nor unmatched, nor taken for another's."""
    submissions, unmatched = collected(tiny, tmp_path, {"double.py": b"x = 1", "old/Total.py": b"def double(x): 0"})
    assert (set(files_in(submissions[0])), problems_in(submissions[0]), unmatched) == ({"double"}, {}, [])


def test_what_cannot_be_read(tiny: Course, tmp_path: Path) -> None:
    """A link, a folder of that name, nothing, a rar: told to the author where it was the answer, and to staff."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "double.py").symlink_to("/etc/passwd")
    submissions, unmatched = collected(tiny, tmp_path / "a", {"work.rar": b"", "essay.pdf": b""})
    assert problems_in(submissions[0]) == {"double": "double.py cannot be read: it is a link, which is not followed"}
    assert {row.file for row in unmatched} == {"double.py", "work.rar", "essay.pdf"}
    submissions, unmatched = collected(tiny, tmp_path / "b", {})
    assert problems_in(submissions[0]) == {"double": "double.py is not among the submitted files"}
    assert unmatched == [Unmatched("", "ada", "it is empty")]
    (tmp_path / "c" / "double.py").mkdir(parents=True)
    submissions, unmatched = collected(tiny, tmp_path / "c", {})
    assert submissions[0].exercises["double"].problem == "double.py cannot be read: it is a folder, not a regular file"
    assert [row.file for row in unmatched] == ["double.py"]


def test_a_notebook_as_it_was_given_out(tiny: Course, tmp_path: Path) -> None:
    """The cells of an exercise that nobody touched are its starter, although there is an import before them."""
    (starter,) = (item.starter.read_text() for item in tiny.exercises if item.id == "double")
    code = starter.split('"""')[2]
    cells = ["import torch", "# 01-1", f"# double\n{code}"]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    for more, untouched in (("", True), ("\n# done\ndef double(x):\n    return x", False)):
        notebook["cells"][2]["source"] += more
        submissions, _ = collected(tiny, tmp_path, {"hw.ipynb": json.dumps(notebook).encode()})
        assert submissions[0].exercises["double"].untouched is untouched


def test_one_authors_folder_zip_or_file(tiny: Course, tmp_path: Path) -> None:
    """The file that counts is found as in a class: the latest by its name, also in a zip."""
    folder, asked = written(tmp_path / "ada", {"Double (1).py": b"x = 1"}), tiny.exercises
    odd = collect_one(folder, tiny.exercises, asked, "ada")
    assert (files_in(odd), odd.authors) == ({"double": {"double.py": b"x = 1"}}, ())
    assert odd.exercises["double"].notes == ("taken from Double (1).py, by its name",)
    assert list(problems_in(odd)) == [exercise.id for exercise in asked[1:]]

    with zipfile.ZipFile(tmp_path / "bo.zip", "w") as file:
        file.writestr("work/double.py", b"x = 2")
    bo = collect_one(tmp_path / "bo.zip", tiny.exercises, asked, "bo")
    assert files_in(bo) == {"double": {"double.py": b"x = 2"}}
    single = collect_one(folder / "Double (1).py", tiny.exercises, asked[:1], "ada")
    assert (files_in(single), problems_in(single)) == (files_in(odd), {})

    (folder / "double.py").write_bytes(b"x = 3")
    named = collect_one(folder, tiny.exercises, asked, "ada")
    assert named.exercises["double"].files["double.py"] == b"x = 1"
    assert named.exercises["double"].notes == (
        "taken from Double (1).py, by its name",
        "several versions: Double (1).py counts, not double.py",
    )
    with pytest.raises(SubmissionError, match="neither a folder with a submission nor a file"):
        collect_one(tmp_path / "nowhere", tiny.exercises, asked, "ada")
    notes = written(tmp_path, {"notes.txt": "Dear Ada, ..."}) / "notes.txt"
    with pytest.raises(SubmissionError, match=r"notes\.txt cannot be graded: it is neither Python nor a notebook"):
        collect_one(notes, tiny.exercises, asked, "ada")
