"""A zip that somebody handed in: read where it is one, and a stranger's word in all that it says."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest
from support import COURSES, files_in, problems_in, written

from grader.course.load import load_course
from grader.intake.archive import ALL_OF_IT
from grader.intake.collect import collect
from grader.intake.contents import Handed, Part, Unmatched
from grader.model import Submission

COURSE = load_course(COURSES / "tiny")
PLACE = "exercises/01_basics/double/double.py"


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED, link: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name == link else 0o100644) << 16
            archive.writestr(info, data, method)
    return target.getvalue()


def tarred(files: Mapping[str, bytes], others: Mapping[str, bytes] | None = None, method: str = "") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz" if method else "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, kind in (others or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    return target.getvalue()


def collected(path: Path) -> tuple[Submission, list[Unmatched]]:
    part = Part(path, ALL_OF_IT if path.is_dir() else PurePosixPath(path.name))
    (found,), unmatched = collect(Handed("ada", ("ada",), (part,)), COURSE.exercises, COURSE.exercises)
    return found, unmatched


def submission(path: Path) -> Submission:
    return collected(path)[0]


def read(path: Path) -> Mapping[str, Mapping[str, bytes]]:
    return files_in(submission(path))


def test_an_entry_without_a_name(tmp_path: Path) -> None:
    """It costs nothing that lies beside it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("total.py", b"x = 1\n")
        nameless = zipfile.ZipInfo("x")
        nameless.filename = ""
        archive.writestr(nameless, b"y = 1\n")
    (tmp_path / "answer.zip").write_bytes(target.getvalue())
    assert read(tmp_path / "answer.zip")["total"] == {"total.py": b"x = 1\n"}


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
    path.write_bytes(zipped(dict.fromkeys(names, b"/etc/passwd"), link="double.py"))
    assert read(path) == {}
    assert [item.name for item in tmp_path.rglob("*.py")] == []


@pytest.mark.parametrize("data", [b"no zip", zipped({PLACE: b"x = 1\n" * 99})[:-60]])
def test_zip_that_cannot_be_read_says_so(tmp_path: Path, data: bytes) -> None:
    """Of a broken or cut zip its author reads what is wrong; it is not as if nothing had come."""
    (tmp_path / "ada.zip").write_bytes(data)
    found = submission(tmp_path / "ada.zip")
    why = "ada.zip cannot be read as a zip: File is not a zip file"
    assert problems_in(found) == {"double": why, "total": why}
    assert all(own.path is not None for own in found.exercises.values())


TOO_MUCH = "too much was handed in, more than 500 files or 64 MiB: "
VENV = "a virtual environment, whose files are not read"
GOOD = {PLACE: b"x = 1\n"}


@pytest.mark.parametrize(
    ("files", "row", "why"),
    [
        ({"total.py": bytes(3 << 20)}, "total.py", "it is larger than 1024 KiB"),
        ({"data.txt": bytes(50 << 20)}, "", ""),
        ({"big.ipynb": bytes(50 << 20)}, "big.ipynb", "it is larger than 8192 KiB"),
        ({f"old/{i:03}.py": b"x" for i in range(600)}, "old/499.py", f"{TOO_MUCH}101 files not read"),
        ({f"{i}.txt": b"" for i in range(600)}, "", ""),
        ({f"old/{i}.ipynb": bytes(8 << 20) for i in range(9)}, "old/8.ipynb", f"{TOO_MUCH}1 file not read"),
        ({"env/pyvenv.cfg": b"", "env/lib/python3/site-packages/x/double.py": b""}, "env/pyvenv.cfg", VENV),
        ({"pyvenv.cfg": b"", "Scripts/y.py": b""}, "pyvenv.cfg", VENV),
        ({"e/site-packages/double.py": b""}, "e/site-packages", "installed packages, which are not read"),
    ],
)
@pytest.mark.parametrize("kind", ["zip", "folder", "tar"])
def test_a_large_part_costs_no_other(tmp_path: Path, files: dict[str, bytes], row: str, why: str, kind: str) -> None:
    """A large file, too many of them, a virtual environment: that part is left out, and one row says so."""
    path, above = tmp_path / f"ada.{kind}", f"ada.{kind}/"
    if kind == "zip":
        path.write_bytes(zipped({**files, **GOOD}))
    elif kind == "tar":
        path.write_bytes(tarred({**GOOD, **files}))
    else:
        above = ""
        written(path, {**files, **GOOD})
    found, unmatched = collected(path)
    assert found.exercises["double"].files["double.py"] == b"x = 1\n"
    usual = ("it has neither", "it cannot be read as")
    told = {one.file: one.why for one in unmatched if not one.why.startswith(usual)}
    assert list(told) == ([f"{above}{row}"] if row else [])
    assert all(text.startswith(why) for text in told.values())


def test_what_is_damaged_or_locked_is_one_files_matter(tmp_path: Path) -> None:
    """A file of a zip that cannot be unpacked is told of by name, and the others count."""
    data = zipped({"double.py": b"x = 1\n", "total.py": b"y = 2\n"}, zipfile.ZIP_STORED)
    (tmp_path / "ada.zip").write_bytes(data.replace(b"y = 2", b"y = 3"))
    found = submission(tmp_path / "ada.zip")
    assert set(files_in(found)) == {"double"}
    assert found.exercises["total"].problem.startswith("total.py cannot be read: it is damaged: Bad CRC-32")
    locked = bytearray(data)
    for start in (locked.index(b"PK\1\2"), locked.index(b"PK\3\4")):
        locked[start + (8 if locked[start + 2] == 1 else 6)] |= 1
    (tmp_path / "ada.zip").write_bytes(locked)
    found = submission(tmp_path / "ada.zip")
    why = "double.py cannot be read: it is protected by a password; hand it in without one"
    assert (found.exercises["double"].problem, set(files_in(found))) == (why, {"total"})


@pytest.mark.parametrize("name", ["ada.tar.gz", "ada.TGZ", "ada.tar"])
def test_a_tar_is_opened_safely(tmp_path: Path, name: str) -> None:
    """Regular files inside it count; links, devices, and paths that lead out of it do not."""
    outside = tmp_path / "out.py"
    files = {"../out.py": b"1", str(outside): b"2", "week1/double.py": b"x = 1\n"}
    others = {"total.py": tarfile.SYMTYPE, "a/total.py": tarfile.LNKTYPE, "b/total.py": tarfile.CHRTYPE}
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(tarred(files, others, "" if name.endswith("tar") else "gz"))
    assert read(path) == {"double": {"double.py": b"x = 1\n"}}
    assert list(tmp_path.rglob("*.py")) == []
    path.write_bytes(path.read_bytes()[:60])
    assert "cannot be read as a tar" in submission(path).exercises["double"].problem


def test_zips_in_zips(tmp_path: Path) -> None:
    """A zip in a zip is read, and so is one in that; not one after another without end."""
    data = zipped({"double.py": b"x = 1\n"})
    for depth in range(3):
        (tmp_path / f"{depth}.zip").write_bytes(data)
        data = zipped({f"{depth}.zip": data})
    (tmp_path / "4.zip").write_bytes(data)
    assert read(tmp_path / "2.zip") == {"double": {"double.py": b"x = 1\n"}}
    assert read(tmp_path / "4.zip") == {}
