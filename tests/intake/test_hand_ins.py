"""What `grade` accepts as a hand-in: the rows of docs/hand-ins.md, each handed in."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from support import COURSES, RIGHT, ROOT, TOTAL, WarmGrade, written

from grader.course.load import load_course
from grader.intake.collect import collect, collect_one, read_submission
from grader.intake.contents import Handed, Part
from grader.model import Course, Submission
from grader.model.report import ExerciseFiles

pytestmark = pytest.mark.lane

HOME = "exercises/01_basics/double"


def notebook(*cells: str) -> str:
    """A notebook with these cells; "MD:" begins the text of one that is no code."""
    rows = [("markdown" if text.startswith("MD:") else "code", text.removeprefix("MD:")) for text in cells]
    return json.dumps({"cells": [{"cell_type": kind, "source": text} for kind, text in rows], "nbformat": 4})


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


def tarred(files: dict[str, str], mode: Literal["w", "w:gz"] = "w") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return target.getvalue()


SCRIPT = "# In[1]:\n\n\nget_ipython().run_line_magic('matplotlib', 'inline')\n\n\n# In[2]:\n\n\n"
WORD = zipped({"word/document.xml": "<w/>", "[Content_Types].xml": "<t/>"})
ODT = zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"})
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
    "a notebook that was saved as `.txt`, under any name": {"Untitled3.txt": notebook(RIGHT)},
    "a notebook of an older format": {
        "double.ipynb": json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": RIGHT}]}], "nbformat": 3})
    },
    "a Python file that was saved as `.ipynb`": {"double.ipynb": RIGHT},
    "a Python file without an ending, with the exercise's name": {"double": RIGHT},
    "a Python file whose ending goes on, such as `.py.bak`, `.py~` or `.py (1)`": {"double.py.bak": RIGHT},
    'Jupyter\'s "Executable Script", and the script that Colab, VS Code or Databricks makes of a notebook': {
        "double.py": SCRIPT + RIGHT
    },
    "a Python file with lines that only a notebook can run, such as `%pwd` or `!ls`": {"double.py": "%pwd\n" + RIGHT},
}
"""By the row of the page, what is handed in; all of it is right."""

FORMS: list[tuple[str, dict[str, str | bytes]]] = [
    ("with another spelling", {"DOUBLE.py": RIGHT}),
    ("with another spelling", {"ex_double_final.py": RIGHT}),
    ("the course's folder", {"hw1/exercises/01_basics/double/double.py": RIGHT}),
    ("a zip, or a tar", {"a.tar": tarred({"hw/double.py": RIGHT})}),
    ("a zip, or a tar", {"a.tgz": tarred({"double.py": RIGHT}, "w:gz")}),
    ("a zip, or a tar", {"a.zip": zipped({"b.zip": zipped({"double.py": RIGHT})})}),
    ("a zip, or a tar", {"a.zip": zipped({"hw/double.py": RIGHT, "__MACOSX/hw/._double.py": "\0\5\x16\7"})}),
    ("`.ipynb.json` or `.json`", {"double.ipynb.json": notebook(RIGHT)}),
    (
        "a notebook of an older format",
        {"double.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": RIGHT}]})},
    ),
    ("whose ending goes on", {"double.py~": RIGHT}),
    ("whose ending goes on", {"double.py (1)": RIGHT}),
    ("Executable Script", {"double.py": "# %%\nimport not_here\nnot_here.draw()\n\n# %%\n" + RIGHT}),
    (
        "Executable Script",
        {"double.py": f'"""x\n\nAutomatically generated by Colab.\n"""\n\n!pip install x\n\n{RIGHT}'},
    ),
    (
        "Executable Script",
        {"double.py": f"# Databricks notebook source\nspark.conf.get('a')\n\n# COMMAND ----------\n\n{RIGHT}"},
    ),
    ("lines that only a notebook can run", {"double.py": "!ls\n" + RIGHT}),
]
"""A part of such a row, and another form of what it names."""

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

REFUSED_FORMS: list[tuple[str, dict[str, str | bytes], str]] = [
    ("GitHub or GitLab", {"double.py": PAGE.replace("GitHub", "GitLab")}, "it is a web page of GitLab"),
    ("Word, OpenDocument, RTF or PDF", {"double.odt": ODT}, "it is an OpenDocument"),
    ("Word, OpenDocument, RTF or PDF", {"double.py": "{\\rtf1 def double"}, "it is a text with formatting (RTF)"),
    ("Word, OpenDocument, RTF or PDF", {"double.pdf": "%PDF-1.4\n"}, "it is a PDF"),
    ("gzip, RAR or 7z", {"double.py": b"Rar!\x1a\x07\x00"}, "it is a RAR archive"),
    ("gzip, RAR or 7z", {"double.py": b"7z\xbc\xaf\x27\x1c"}, "it is a 7z archive"),
]
"""A part of such a row, another form of what it names, and what its author reads."""


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
    assert_right(own)
    is_plain = list(READ[row]) in (["double.py"], [f"{HOME}/double.py"], ["a.zip"]) and "notebook" not in row
    assert is_plain or own.notes
    assert bool(found.exercises["total"].files) is ("several" in row)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: next(iter(form[1])))
def test_what_is_read_in_other_forms(tiny: Course, tmp_path: Path, form: tuple[str, dict[str, str | bytes]]) -> None:
    """Where a row names several forms, each is the answer that it contains."""
    part, files = form
    assert [row for row in READ if part in row]
    assert_right(handed_in(tmp_path, files, tiny).exercises["double"])


def assert_right(own: ExerciseFiles) -> None:
    """Assert that the files of an exercise are the right answer, as Python runs it."""
    assert (own.problem, own.error, own.untouched) == ("", "", False)
    names: dict[str, object] = {}
    exec(own.files["double.py"], names)
    double = names["double"]
    assert callable(double)
    assert double(2) == 4


@pytest.mark.parametrize(("part", "files", "why"), REFUSED_FORMS)
def test_what_is_not_read_in_other_forms(
    tiny: Course, tmp_path: Path, part: str, files: dict[str, str | bytes], why: str
) -> None:
    """Where a row names several forms, its author reads which one it is."""
    assert [row for row in REFUSED if part in row]
    assert why in handed_in(tmp_path, files, tiny).exercises["double"].problem


@pytest.mark.parametrize("row", REFUSED)
def test_what_is_not_read(tiny: Course, tmp_path: Path, row: str) -> None:
    """Its author reads what it is, and how to get the right one."""
    files, why = REFUSED[row]
    problem = handed_in(tmp_path, files, tiny).exercises["double"].problem
    assert problem.startswith(f"double.py cannot be read: {why}")


def test_an_unresolved_merge(tiny: Course, tmp_path: Path) -> None:
    """It is handed in, and does not load: the message says where the merge is, and what to do."""
    error = handed_in(tmp_path, {"double.py": MERGE}, tiny).exercises["double"].error
    assert error.startswith("your double.py does not load: it has an unresolved merge; keep one of the two versions")
    assert error.endswith("double.py, line 1")


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


RIGHT_IN_CLASS = "class A:\n    def double(self, x):\n        return 2 * x\n\ndef double_(x):\n    return x.mul_(2)\n"
HELPED = "from {} import twice\n\n\ndef double(x):\n    return twice(x)\n\n\ndef double_(x):\n    return x.mul_(2)\n"
TWICE = "def twice(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return x\n\n\ndef double_(x):\n    return x\n"

KINDS: dict[str, tuple[dict[str, str | bytes], float, str]] = {
    "a comment is another exercise's name": ({"double.ipynb": notebook("# total\nm = 1", RIGHT)}, 10, "a notebook"),
    "a heading is": ({"double.ipynb": notebook("MD:## Total", RIGHT)}, 10, "a notebook"),
    "a copy beside it": ({f"{HOME}/double.py": RIGHT, f"{HOME}/double copy.py": WRONG}, 10, "several versions"),
    "a course's folder in another": (
        {f"mine/{HOME}/double.py": RIGHT, f"mine/{HOME}/double (1).py": WRONG, "mine/course.yaml": "title: x"},
        10,
        "several versions",
    ),
    "an earlier attempt": ({f"{HOME}/double.py": RIGHT, f"{HOME}/attempt1/double.py": WRONG}, 10, "several versions"),
    "a notebook with all functions, named after one": ({"total.ipynb": notebook(RIGHT, TOTAL)}, 10, "a notebook"),
    "a script of Colab's": (
        {"double.py": '"""x.ipynb\n\nAutomatically generated by Colab.\n"""\n!pip install x\n'
         f"from google.colab import drive\ndrive.mount('/x')\n{RIGHT}"},
        10,
        "left out what this exercise does not need: the script (lines 6, 7)",
    ),
    "a script with a timed cell": (
        {"double.py": f"# In[1]:\nget_ipython().run_cell_magic('time', '', {RIGHT!r})\n"}, 10, "",
    ),
    "a cell that failed": ({"double.ipynb": notebook(RIGHT, "1 / 0")}, 10, "left out"),
    "a package that is not installed": ({"double.ipynb": notebook("import math, not_here", RIGHT)}, 10, "left out"),
    "a cell that takes minutes": ({"double.ipynb": notebook(RIGHT, "while SLOW:\n    pass")}, 10, "left out"),
    "a name of a later cell": ({"double.ipynb": notebook(RIGHT.replace("2", "two"), "two = 2")}, 10, ""),
    "a cell that ends the kernel": ({"double.ipynb": notebook(RIGHT, "raise SystemExit")}, 10, "left out"),
    "a notebook that uses the file beside it": (
        {"double.ipynb": notebook("from beside import twice", HELPED.format("beside")), "beside.py": TWICE}, 10, "",
    ),
    "a notebook that imports the answer": (
        {"notes.ipynb": notebook("from double import double\ndouble(1)"), "double.py": RIGHT}, 10, "",
    ),
    "a file that a cell writes": (
        {"double.ipynb": notebook(f"%%writefile wrote.py\n{TWICE}", HELPED.format("wrote"))}, 10, "",
    ),
    "a module of Python's name": ({"double.py": HELPED.format("statistics"), "statistics.py": TWICE}, 10, ""),
    "a package of Python's name": (
        {"double.py": HELPED.format("calendar"), "calendar/__init__.py": "from .inner import twice\n",
         "calendar/inner.py": TWICE},
        10,
        "",
    ),
    "a compiled function": ({"double.py": f"import torch\n@torch.compile\n{RIGHT}"}, 10, ""),
    "in a class": ({"double.py": RIGHT_IN_CLASS}, 0, "line 2 defines it in the class `A`"),
    "as a program alone": (
        {"double.py": 'if __name__ == "__main__":\n    ' + RIGHT.replace("\n", "\n    ")}, 0, '__name__ == "__main__"',
    ),
    "in a function": ({"double.py": "def main():\n    " + RIGHT.replace("\n", "\n    ")}, 0, "in the function `main`"),
    "it ends itself": ({"double.py": RIGHT + "exit()\n"}, 0, "ends itself while it loads"),
    "a merge in a function": (
        {"double.py": RIGHT + "def f():\n<<<<<<< a\n    return 1\n=======\n    return 2\n>>>>>>> b\n"},
        0,
        "an unresolved merge",
    ),
    "a merge in a cell": ({"double.ipynb": notebook(f"def double(x):\n{MERGE}")}, 0, "an unresolved merge"),
    "a merge of a notebook": (
        {"double.ipynb": notebook(RIGHT).replace("[", "[\n<<<<<<< a\n", 1) + "\n=======\n>>>>>>> b\n"},
        0,
        "an unresolved merge",
    ),
}  # fmt: skip
"""By kind: what is handed in, the points of `double`, and what its author reads."""


def test_four_ways(type_grade: WarmGrade, tmp_path: Path) -> None:
    """`grade`, `grade ci` and `grade batch` give the same points and say why; of a notebook, a kernel does, too."""
    rows = {f"read: {row}": (files, 10.0, "") for row, files in READ.items()}
    rows |= {f"refused: {row}": (files, 0.0, why) for row, (files, why) in REFUSED.items()} | KINDS
    folders = {name: f"kind{number}" for number, name in enumerate(rows)}
    home, problems = COURSES / "tiny", list[str]()

    def said(path: Path) -> tuple[float, str]:
        (row,) = (row for row in json.loads(path.read_text())["exercises"] if row["id"] == "double")
        texts = [*row["notes"], *(check["message"] for check in row["checks"])]
        return row["score"]["earned"], " ".join(" ".join(texts).split())

    for name, (files, _, _) in rows.items():
        written(tmp_path / "class" / folders[name], files)
    type_grade("batch", str(tmp_path / "class"), "--out", str(tmp_path / "out"), cwd=home)
    for name, (files, points, text) in rows.items():
        folder, report = tmp_path / "class" / folders[name], tmp_path / "report.json"
        found = {"batch": said(tmp_path / "out" / "reports" / f"{folder.name}.json")}
        for words in (("run", "--submission"), ("ci", "--course", str(home), "--submission")):
            type_grade(*words, str(folder), "double", "--json", str(report), cwd=home)
            found[words[0]] = said(report)
        problems += [f"{name}: {way}: {one}" for way, one in found.items() if one[0] != points or text not in one[1]]
        for file, data in files.items():
            if file.endswith(".ipynb") and name in KINDS and "merge of" not in name:
                shown = in_kernel(folder, data)
                if f"{points:g} / 10 points" not in shown or text.split(" ")[0] not in shown:
                    problems.append(f"{name}: kernel: {shown}")
    assert problems == []


def in_kernel(folder: Path, data: str | bytes) -> str:
    """What `check` says below the cells of a notebook that lies in a folder."""
    cells = [cell["source"] for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "kernel.py"), str(COURSES / "tiny"), "double"],
        input=json.dumps({"it": [cell.replace("SLOW", "0") for cell in cells]}),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert ran.returncode == 0, ran.stderr
    return str(json.loads(ran.stdout)["it"])


WHOLE = f"import torch\n\n\n{RIGHT}\n\n{TOTAL}"
CLASSES: dict[str, dict[str, str | bytes]] = {
    "files by author": {f"{who}.py": f"{WHOLE}# {who}\n" for who in ("ada", "bob")},
    "notebooks by author": {f"{who}.ipynb": notebook(WHOLE) for who in ("ada", "bob")},
    "folders": {f"{who}/assignment1.py": WHOLE for who in ("ada", "bob")},
    "zips": {f"{who}.zip": zipped({"hw/assignment1.py": WHOLE}) for who in ("ada", "bob")},
    "Moodle": {
        f"{who} Lo_{number}_assignsubmission_file_/a1.py": WHOLE for who, number in (("Ada", 1001), ("Bob", 1002))
    },
    "Canvas": {f"lo{who}_{number}_9{number}_a1.py": WHOLE for who, number in (("ada", 21), ("bob", 22))},
}


@pytest.mark.parametrize("layout", CLASSES)
def test_a_whole_class_hands_in_one_file_each(type_grade: WarmGrade, tmp_path: Path, layout: str) -> None:
    """Each exercise is graded whose functions the file defines, and nothing says that nothing was handed in."""
    written(tmp_path / "class", CLASSES[layout])
    ran = type_grade("batch", str(tmp_path / "class"), "--out", str(tmp_path / "out"), cwd=COURSES / "tiny")
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out" / "reports").glob("*.json")]
    points = [[row["score"]["earned"] for row in report["exercises"]] for report in reports]
    assert points == [[10, 5]] * 2, ran.stdout
    assert "nothing handed in" not in ran.stdout
