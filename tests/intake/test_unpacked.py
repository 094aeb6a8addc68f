"""What is in a class's zip lies on the disk for as long as it is graded, and no longer."""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from grader.intake.collect import open_intake
from grader.model.errors import SubmissionError

pytestmark = pytest.mark.lane

HELD = """
import sys, tempfile
from pathlib import Path
tempfile.tempdir = sys.argv[1]
from grader.intake.collect import open_intake
with open_intake(Path(sys.argv[2]), ()) as intake:
    print(intake.root, flush=True)
    input()
"""


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_folder_is_removed(is_killed: bool, tmp_path: Path) -> None:
    """Also where the process that grades is killed; until then no other user can read it."""
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("ada/double.py", "x = 1\n")
    words = [sys.executable, "-c", HELD, str(tmp_path), str(archive)]
    running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    folder = Path(running.stdout.readline().strip())
    assert (folder.parent.stat().st_mode & 0o777, (folder / "ada/double.py").read_text()) == (0o700, "x = 1\n")
    if is_killed:
        running.kill()
    running.communicate("\n")
    while folder.parent.exists():
        time.sleep(0.05)
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]


def test_what_cannot_be_unpacked_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder stays where there is no zip."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "none.zip").write_bytes(b"no zip")
    with pytest.raises(SubmissionError, match="cannot be read as a zip"), open_intake(tmp_path / "none.zip", ()):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["none.zip"]
