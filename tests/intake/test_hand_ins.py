"""What `grade` accepts as a hand-in: the rows of docs/hand-ins.md, each handed in."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from support import COURSES, RIGHT, ROOT, TOTAL, written

from grader.course.load import load_course
from grader.intake.collect import collect, collect_one, read_submission
from grader.intake.contents import Handed, Part
from grader.model import Course, Submission

HOME = "exercises/01_basics/double"


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text} for text in cells], "nbformat": 4})


def zipped(files: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


SCRIPT = "# In[1]:\n\n\nget_ipython().run_line_magic('matplotlib', 'inline')\n\n\n# In[2]:\n\n\n"
WORD = zipped({"word/document.xml": "<w/>", "[Content_Types].xml": "<t/>"})
MERGE = "<<<<<<< HEAD\n" + RIGHT + "=======\n" + RIGHT + ">>>>>>> other\n"
PAGE = "<!DOCTYPE html>\n<html><head><title>hw/double.py at main · GitHub</title></head></html>\n"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"

READ: dict[str, dict[str, str | bytes]] = {
    "a Python file with the exercise's name": {"double.py": RIGHT},
    "the same with another spelling, a copy's number, or a word around it": {"week1_Double (2).PY": RIGHT},
    "the course's folder, or a part of it": {f"{HOME}/double.py": RIGHT},
    "a zip, or a tar, of any of these, also in another zip": {"a.zip": zipped({"double.py": RIGHT})},
    "a Python file under any name that defines all functions of the exercise": {"homework.py": RIGHT},
    "one file with the functions of several exercises": {"homework.py": RIGHT + TOTAL},
    "a Python file that a browser or a mail program saved as `.py.txt`": {"double.py.txt": RIGHT},
    "the same as `.py.html`, with plain text in it": {"double.py.html": RIGHT},
    "the same as `.py.download`": {"double.py.download": RIGHT},
    "the same as `.txt`, with the exercise's name": {"double.txt": RIGHT},
    "a Jupyter notebook": {"double.ipynb": notebook("import torch", RIGHT)},
    "a notebook that was saved as `.ipynb.json` or `.json`": {"homework.json": notebook(RIGHT)},
    "a notebook that was saved as `.ipynb.txt`": {"double.ipynb.txt": notebook(RIGHT)},
    "a notebook that was saved as `.py`": {"double.py": notebook(RIGHT)},
    'Jupyter\'s "Executable Script"': {"double.py": SCRIPT + RIGHT},
}
"""By the row of the page, what is handed in; all of it is right."""

REFUSED: dict[str, tuple[dict[str, str | bytes], str]] = {
    "a web page of GitHub or GitLab": ({"double.py": PAGE}, "it is a web page of GitHub, and not the file"),
    "a Git LFS pointer": ({"double.py": LFS}, "it is a Git LFS pointer"),
    "a zip that is named `.py`": ({"double.py": zipped({"double.py": RIGHT})}, "it is a zip archive; give it a name"),
    "a Word, OpenDocument, RTF or PDF file": ({"double.docx": WORD}, "it is a Word document; copy the code"),
    "a gzip, RAR or 7z file": ({"double.py": gzip.compress(RIGHT.encode())}, "it is a compressed file (gzip)"),
    "a text in UTF-16": ({"double.py": RIGHT.encode("utf-16")}, "it is saved as UTF-16; save it as UTF-8"),
    "a damaged notebook": ({"double.ipynb": notebook(RIGHT)[:-9]}, "it cannot be read as a notebook"),
}
"""By the row of the page, what is handed in, and what its author reads."""


def handed_in(folder: Path, files: dict[str, str | bytes], course: Course) -> Submission:
    (found, *_), _ = collect(
        Handed("ada", ("ada",), (Part(written(folder, files)),)), course.exercises, course.exercises
    )
    return found


@pytest.mark.parametrize("row", READ)
def test_what_is_read(tiny: Course, tmp_path: Path, row: str) -> None:
    """Each is the answer that it contains, through the reader of `grade --submission`, `batch` and `ci`."""
    found = handed_in(tmp_path, READ[row], tiny)
    own = found.exercises["double"]
    assert (own.problem, own.error, own.untouched) == ("", "", False)
    names: dict[str, object] = {}
    exec(own.files["double.py"], names)
    double = names["double"]
    assert callable(double)
    assert double(2) == 4
    is_plain = list(READ[row]) in (["double.py"], [f"{HOME}/double.py"], ["a.zip"]) and "notebook" not in row
    assert is_plain or own.notes
    assert bool(found.exercises["total"].files) is ("several" in row)


@pytest.mark.parametrize("row", REFUSED)
def test_what_is_not_read(tiny: Course, tmp_path: Path, row: str) -> None:
    """Its author reads what it is, and how to get the right one."""
    files, why = REFUSED[row]
    problem = handed_in(tmp_path, files, tiny).exercises["double"].problem
    assert problem.startswith(f"double.py cannot be read: {why}")


def test_an_unresolved_merge(tiny: Course, tmp_path: Path) -> None:
    """It is handed in, and does not load: the message says where the merge is, and what to do."""
    error = handed_in(tmp_path, {"double.py": MERGE}, tiny).exercises["double"].error
    assert error.startswith(
        "your double.py does not load: it has an unresolved merge, which begins in line 1; keep one"
    )


def test_the_page_has_these_rows() -> None:
    """What the page lists is what is tested here."""
    text = (ROOT / "docs" / "hand-ins.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!what|---)(.+?) \|", text, re.MULTILINE)
    assert rows == [*READ, *REFUSED, "an unresolved merge"]


BACKUPS = ("double copy.py", "double (1).py", "double_v1.py", "double_final.py", "attempt2/double.py", "old/double.py")


@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("touched", [True, False], ids=["worked on", "starter"])
def test_the_courses_place_decides(tmp_path: Path, backup: str, touched: bool) -> None:
    """In a course's folder no copy beside the answer counts: for `grade`, `pack`, `ci` and a batch of clones."""
    folder = tmp_path / "course"
    written(folder, {"course.yaml": (COURSES / "tiny" / "course.yaml").read_text()})
    course = load_course(COURSES / "tiny")
    starter = next(item.starter for item in course.exercises if item.id == "double").read_text()
    own = RIGHT if touched else starter
    written(folder, {f"{HOME}/double.py": own, f"{HOME}/{backup}": RIGHT + "\n# older\n"})
    for found in (
        read_submission(folder, course.exercises, "ada"),
        collect_one(folder, course.exercises, course.exercises, "ada"),
        handed_in(folder, {}, course),
    ):
        files = found.exercises["double"].files
        assert (files["double.py"].decode(), found.exercises["double"].untouched) == (own, own == starter)
        assert set(files) == {"double.py"}
        assert any(f"double/{backup}" in note for note in found.exercises["double"].notes)


def test_a_download_keeps_its_rules(tiny: Course, tmp_path: Path) -> None:
    """Where no course lies around the files, the latest counts, and a starter beside the answer does not."""
    found = handed_in(tmp_path / "a", {"double.py": "x = 1", "double (1).py": RIGHT}, tiny)
    assert found.exercises["double"].files["double.py"] == RIGHT.encode()
    starter = next(item.starter for item in tiny.exercises if item.id == "double").read_text()
    found = handed_in(tmp_path / "b", {f"{HOME}/double.py": starter, f"{HOME}/double (1).py": RIGHT}, tiny)
    assert found.exercises["double"].files["double.py"] == RIGHT.encode()


def test_strong_signs_come_first(tiny: Course, tmp_path: Path) -> None:
    """All functions of an exercise before the name of another one; the note says why."""
    found = handed_in(tmp_path, {"total.py": RIGHT}, tiny)
    assert found.exercises["double"].notes == ("taken from total.py, by the functions that it defines",)
    found = handed_in(tmp_path / "two", {"double.py": RIGHT, "homework.py": RIGHT + TOTAL}, tiny)
    assert found.exercises["double"].notes == ()
    assert found.exercises["total"].notes == ("taken from homework.py, by the functions that it defines",)
