"""How much one author may hand in, and what becomes of files on which a reader stumbles: a row, and nobody else's."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from support import RIGHT, files_in, make_deep, problems_in, written

from grader.intake.collect import collect, open_intake
from grader.intake.contents import Handed, Part, Unmatched
from grader.model import Course, Submission
from grader.sandbox.process import remove_folder

INSTALLED = "installed packages, which are not read"


def collected(course: Course, folder: Path) -> tuple[Submission, list[Unmatched]]:
    (found, *_), unmatched = collect(Handed("eve", ("eve",), (Part(folder),)), course.exercises, course.exercises)
    return found, unmatched


def zipped(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def test_a_virtual_environment_costs_nothing(tiny: Course, tmp_path: Path) -> None:
    """Beside 120,000 files of one, and beside as many others, the answer is read; of the others a row is left."""
    names = [f"env/lib/python3.11/site-packages/p{at // 99}/m{at}.py" for at in range(100_000)]
    names += [f"conda/{top}/m{at}.py" for top in ("lib", "include") for at in range(10_000)] + [
        "conda/conda-meta/history"
    ]
    zipped(tmp_path / "hw.zip", {**dict.fromkeys(names, b""), "zz/double.py": RIGHT.encode()})
    found, unmatched = collected(tiny, tmp_path)
    assert files_in(found) == {"double": {"double.py": RIGHT.encode()}}
    assert {row.file: row.why for row in unmatched} == {
        "hw.zip/env/lib/python3.11/site-packages": INSTALLED,
        "hw.zip/conda/conda-meta": "a virtual environment, whose files are not read",
    }


def test_many_files_cost_nothing(tiny: Course, tmp_path: Path) -> None:
    """An answer that lies below thousands of files is found by its name; a row says how many were not read."""
    written(tmp_path, {**{f"a/{at}.py": "" for at in range(3000)}, "z/double.py": RIGHT})
    found, unmatched = collected(tiny, tmp_path)
    assert list(files_in(found)) == ["double"]
    assert "too much was handed in, more than 500 files or 64 MiB: 2501 files not read" in {
        row.why for row in unmatched
    }


DEEP = "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n"
HARD = {
    "an expression that nests deeply": DEEP,
    "attributes": f"x = a{'.b' * 20_000}\n",
    "signs": f"x = {'-' * 20_000}1\n",
    "a sum": f"x = 1{' + 1' * 20_000}\n",
    "another codec": "# coding: hex\n",
    "no codec": "# coding: undefined\n",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_what_a_reader_stumbles_over(tiny: Course, tmp_path: Path, text: str) -> None:
    """In the answer itself, beside it, and in a cell of a notebook: the answer counts, or its author reads why."""
    written(tmp_path / "own", {"double.py": text + RIGHT})
    cells = [{"cell_type": "code", "source": source} for source in (text, RIGHT)]
    written(tmp_path / "beside", {"other.py": text, "double.py": RIGHT, "x.ipynb": json.dumps({"cells": cells})})
    own, _ = collected(tiny, tmp_path / "own")
    assert list(files_in(own)) == ["double"]  # a worker says what Python says
    beside, _ = collected(tiny, tmp_path / "beside")
    assert beside.exercises["double"].files["double.py"] == RIGHT.encode()


def test_a_folder_of_many_levels(tiny: Course, tmp_path: Path) -> None:
    """It is not walked to its end, neither to know the class nor to read the author."""
    written(tmp_path / "in", {"ada/double.py": RIGHT, "eve/double.py": RIGHT})
    make_deep(tmp_path / "in" / "eve", 1_500)
    with open_intake(tmp_path / "in", tiny.exercises) as intake:
        assert [one.key for one in intake.handed] == ["ada", "eve"]
    found, _ = collected(tiny, tmp_path / "in" / "eve")
    assert list(files_in(found)) == ["double"]
    remove_folder(str(tmp_path / "in"))


def test_what_one_author_fills_on_the_disk(tiny: Course, tmp_path: Path) -> None:
    """Of a class's download no more than a share, in bytes and in names. The answer is in it; others lose nothing."""
    large = {f"eve/{at}.py": bytes(1 << 20) for at in range(150)} | {f"eve/p/{at}.png": b"" for at in range(300)}
    files = {"ada/double.py": b"x = 1", **large, "eve/w/double.py": b"x = 2", "eve/a.zip": bytes(9 << 20)}
    zipped(tmp_path / "class.zip", files)
    assert (tmp_path / "class.zip").stat().st_size < 1 << 20
    with open_intake(tmp_path / "class.zip", tiny.exercises) as intake:
        sizes = [path.stat().st_size for path in intake.root.rglob("*") if path.is_file()]
        assert (sum(sizes) >> 20, len(sizes) < 200) == (96, True)
        (row,) = intake.unmatched
        assert (row.author, row.why.split(":")[0]) == ("eve", "too much was handed in, more than 1000 files or 96 MiB")
        for one in intake.handed:
            (found, *_), _ = collect(one, tiny.exercises, tiny.exercises[:1])
            assert problems_in(found) == {}
