"""What is in a class's zip lies on the disk for as long as it is graded, and no longer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from grader.intake.unpacked import private_folder

OLD = 1_000_000
HELD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from grader.intake.unpacked import private_folder
with private_folder() as folder:
    (folder / "double.py").touch()
    print(folder, flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing tells there whose folder is in use")
def test_what_a_killed_process_left_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process removes it; what another one still uses stays, and so does what is new."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", HELD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    folders = [Path(process.stdout.readline().strip()) for process in running if process.stdout]
    other = tmp_path / "grade-class-of-mine"
    other.mkdir()
    for folder in (*folders, other):
        os.utime(folder, (OLD, OLD))
    running[0].kill()
    running[0].communicate()
    with private_folder() as folder:
        assert (folder.stat().st_mode & 0o777, list(folder.iterdir())) == (0o700, [])
        assert sorted(tmp_path.iterdir()) == sorted((folder, folders[1], other))
        with private_folder() as second:
            assert sorted(tmp_path.iterdir()) == sorted((folder, folders[1], other, second))
    running[1].communicate("\n")
    assert list(tmp_path.iterdir()) == [other]
