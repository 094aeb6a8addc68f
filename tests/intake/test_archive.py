"""A zip that somebody handed in: read where it is one, and a stranger's word in all that it says."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest
from support import COURSES

from grader.course.load import load_course
from grader.intake.collect import collect
from grader.intake.handed import ALL_OF_IT, Handed, Part
from grader.model import Submission

COURSE = load_course(COURSES / "tiny")
PLACE = "exercises/01_basics/double/double.py"


def zipped(
    files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED, modes: Mapping[str, int] | None = None
) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(info, data)
    return target.getvalue()


def submission(path: Path) -> Submission:
    part = Part(path, ALL_OF_IT if path.is_dir() else PurePosixPath(path.name))
    (found,), _ = collect(Handed("ada", ("ada",), (part,)), COURSE.exercises, COURSE.exercises)
    return found


def read(path: Path) -> Mapping[str, Mapping[str, bytes]]:
    return submission(path).files


@pytest.mark.parametrize(
    "name", [PLACE, "double.py", "01_basics/double/double.py", f"week1/{PLACE}", "a\\b\\double.py", "x/Double-2.py"]
)
def test_zip_is_read_as_the_folder_that_it_holds(tmp_path: Path, name: str) -> None:
    """Files are found in a zip of `grade pack`, in a flat one, and in a folder that somebody put around them."""
    path = tmp_path / "ada.zip"
    path.write_bytes(zipped({name: b"x = 1\n", "__MACOSX/._double.py": b"?", ".idea/notes.py": b""}))
    assert read(path) == {"double": {"double.py": b"x = 1\n"}}


def test_folder_with_one_zip_is_that_zip(tmp_path: Path) -> None:
    """Platforms put a student's file into a folder; where the exercise's file lies beside the zip, that counts."""
    (tmp_path / "week1.ZIP").write_bytes(zipped({PLACE: b"x = 1\n"}))
    assert read(tmp_path) == {"double": {"double.py": b"x = 1\n"}}
    (tmp_path / "double.py").write_bytes(b"x = 2\n")
    assert read(tmp_path) == {"double": {"double.py": b"x = 2\n"}}


def test_nothing_leads_out_of_a_zip(tmp_path: Path) -> None:
    """A path that leads out, an absolute one and a link are left out, and nothing is written elsewhere."""
    outside = tmp_path / "out.py"
    names = ("../out.py", str(outside), f"x/../../{outside.name}", "C:\\out.py", "double.py")
    path = tmp_path / "in" / "ada.zip"
    path.parent.mkdir()
    path.write_bytes(zipped(dict.fromkeys(names, b"/etc/passwd"), modes={"double.py": 0o120777}))
    assert read(path) == {}
    assert [item.name for item in tmp_path.rglob("*.py")] == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"no zip", "ada.zip cannot be read as a zip: File is not a zip file"),
        (zipped({PLACE: b"x = 1\n" * 99})[:-60], "File is not a zip file"),
        (zipped({PLACE: b"x = 1\n" * 99}).replace(b"\x78", b"\x79"), "ada.zip cannot be read as a zip: "),
        (zipped({PLACE: bytes(3 << 20)}), "a file of more than 1 MiB"),
        (zipped({f"{i}.ipynb": random.randbytes(7 << 20) for i in range(10)}, zipfile.ZIP_STORED), "or too many"),
        (zipped({"double.ipynb": bytes(3 << 20)}), "200 times as large as what is packed of it"),
        (zipped({f"{i}.py": b"" for i in range(501)}), "or too many"),
        (zipped({f"{i}.txt": b"" for i in range(5001)}, zipfile.ZIP_STORED), "more than 5000 entries"),
    ],
)
def test_zip_that_cannot_be_read_says_so(tmp_path: Path, data: bytes, told: str) -> None:
    """Of a broken, cut, or much too large zip its author reads what is wrong; it is not as if nothing had come."""
    (tmp_path / "ada.zip").write_bytes(data)
    found = submission(tmp_path / "ada.zip")
    assert {id for id in found.problems if told in found.problems[id]} == {"double", "total"}
    assert set(found.paths) == {"double", "total"}


def test_zips_in_zips(tmp_path: Path) -> None:
    """A zip in a zip is read, and so is one in that; not one after another without end."""
    data = zipped({"double.py": b"x = 1\n"})
    for depth in range(3):
        (tmp_path / f"{depth}.zip").write_bytes(data)
        data = zipped({f"{depth}.zip": data})
    (tmp_path / "4.zip").write_bytes(data)
    assert read(tmp_path / "2.zip") == {"double": {"double.py": b"x = 1\n"}}
    assert read(tmp_path / "4.zip") == {}
