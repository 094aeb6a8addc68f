"""`grade --submission`, `grade batch` and `grade ci` read the same files in the same way, however they lie."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from support import COURSES, WarmGrade, written

from grader.model import Course, Install
from grader.release.make import notebooks_of

SOLVED = (COURSES / "tiny" / "solutions" / "01_basics" / "double" / "double.py").read_text()
PLACE = Path("exercises", "01_basics", "double", "double.py")


def released(course: Course, folder: Path) -> Path:
    """A student's copy of the course, with notebooks and without solutions."""
    shutil.copytree(course.root, folder, ignore=shutil.ignore_patterns("solutions"))
    return written(folder, notebooks_of(course, Install()))


def solved_notebook(course: Course, folder: Path) -> None:
    (path,) = released(course, folder).glob("notebooks/*.ipynb")
    notebook = json.loads(path.read_text())
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "double-code")
    cell["source"] = ["# exercise: double\n", "%matplotlib inline\n", *SOLVED.splitlines(keepends=True)]
    path.write_text(json.dumps(notebook))


def zip_at_the_root(course: Course, folder: Path) -> None:
    released(course, folder)
    with zipfile.ZipFile(folder / "handin.zip", "w") as archive:
        archive.writestr(PLACE.as_posix(), SOLVED)


def copy_in_a_subfolder(course: Course, folder: Path) -> None:
    (released(course, folder / "homework" / "copy") / PLACE).write_text(SOLVED)


def exercises_below_a_week(course: Course, folder: Path) -> None:
    written(folder / "week1", {str(PLACE): SOLVED})


def another_name(course: Course, folder: Path) -> None:
    written(folder, {"my homework.py": SOLVED})


LAYOUTS: list[Callable[[Course, Path], None]] = [solved_notebook, zip_at_the_root, copy_in_a_subfolder]
LAYOUTS += [exercises_below_a_week, another_name]


def points(report: Path) -> dict[str, float]:
    return {row["id"]: row["score"]["earned"] for row in json.loads(report.read_text())["exercises"]}


def test_three_commands_agree(type_grade: WarmGrade, tiny: Course, tmp_path: Path) -> None:
    """Each earns 10 of 20 points in all of them."""

    def run(*words: str) -> None:
        ran = type_grade(*words, cwd=tiny.root)
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr

    handed = tmp_path / "class"
    for lay in LAYOUTS:
        lay(tiny, handed / lay.__name__)
    run("batch", str(handed), "--out", str(tmp_path / "out"), "-j", "2")
    for lay in LAYOUTS:
        name = lay.__name__
        (batch,) = tmp_path.glob(f"out/reports/{name}*.json")
        folder, one, two = handed / name, tmp_path / "one.json", tmp_path / "two.json"
        single = folder / "my homework.py"
        run("run", "--submission", str(single if single.exists() else folder), "--json", str(one))
        run("ci", "--submission", str(folder), "--course", str(tiny.root), "--json", str(two))
        assert [points(path) for path in (batch, one, two)] == [{"double": 10, "total": 0}] * 3, name
