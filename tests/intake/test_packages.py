"""Submissions of several files: packages come along where they are imported, from disk and from a hand-in alike."""

from __future__ import annotations

from pathlib import Path

from support import files_in, written

from grader.intake.collect import collect, read_submission
from grader.intake.contents import Handed, Part
from grader.model import Course
from grader.student.pack import packed_files

FILES = {
    "double.py": b"from tools.deep import two\nimport beside\n",
    "beside.py": b'"""Takes\nfrom unused what is left.\n"""\ndef f():\n    from other import x\n',
    "tools/__init__.py": b"",
    "tools/deep/__init__.py": b"from .two import two\n",
    "tools/deep/two.py": b"two = 2\n",
    "tools/check_double.py": b"a check is ours",
    "tools/__pycache__/x.py": b"",
    "other/x.py": b"",
    "01_basics/total/total.py": b"another exercise",
    "unused/y.py": b"import tools",
}
ALONG = {"double.py", "beside.py", "tools/__init__.py", "tools/deep/__init__.py", "tools/deep/two.py", "other/x.py"}


def laid_out(folder: Path) -> Path:
    written(folder, FILES)
    (folder / "tools" / "linked").symlink_to("/etc")
    (folder / "tools" / "link.py").symlink_to("/etc/passwd")
    return folder


def test_packages_come_along(tiny: Course, tmp_path: Path) -> None:
    """Those that the file imports, or a file that comes along, from a folder as from a hand-in; the others are told."""
    submission = read_submission(laid_out(tmp_path), tiny.exercises[:1], "ada")
    handed = Handed("ada", ("ada",), (Part(tmp_path),))
    (same,), unmatched = collect(handed, tiny.exercises, tiny.exercises[:1])
    assert set(submission.exercises["double"].files) == set(same.exercises["double"].files) == ALONG
    assert [row.file for row in unmatched if row.file.endswith(".py")] == ["unused/y.py", "tools/link.py"]


def test_a_packed_package_is_read_back(tiny: Course, tmp_path: Path) -> None:
    """What `grade pack` writes has all of it, at places where it is found again."""
    submission = read_submission(laid_out(tmp_path / "work"), tiny.exercises[:1], "ada")
    again = written(tmp_path / "zip", packed_files(submission, tiny.exercises[:1]))
    handed = Handed("ada", ("ada",), (Part(again),))
    (same,), unmatched = collect(handed, tiny.exercises, tiny.exercises[:1])
    assert (files_in(same), unmatched) == (files_in(submission), [])
