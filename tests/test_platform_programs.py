"""Programs of platforms themselves, in a Python of their own: they write what we read, and read what we write.

docs/platforms.md names the rules that these hold. `make platforms` installs the programs, and runs this.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import written

from grader.intake.collect import open_intake
from grader.model import Course

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "out" / "platforms" / "bin" / "python"

pytestmark = [
    pytest.mark.platforms,
    pytest.mark.lane,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.with_name("nbgrader").exists(), reason="nbgrader is not here: run  make platforms"),
]


def ran(folder: Path, *words: str | Path) -> str:
    done = subprocess.run([PYTHON, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def times_of(folder: Path, course: Course) -> dict[str, str]:
    with open_intake(folder, course.exercises) as intake:
        assert intake.title().startswith("nbgrader's submitted folder")
        return {f"{one.key} {part.path.name}": part.at for one in intake.handed for part in one.parts}


CONFIG = """
c = get_config()
c.CourseDirectory.db_url = "sqlite:///:memory:"
c.FileNameCollectorPlugin.valid_ext = [".py"]
c.FileNameCollectorPlugin.named_regexp = r".*/(?P<student_id>[a-z]+)_(?P<timestamp>[^_]+)_(?P<file_id>.*)"
"""


def test_what_nbgrader_collects(tiny: Course, tmp_path: Path) -> None:
    """`nbgrader zip_collect` lays out folders, and writes each time in UTC and without a zone."""
    texts = {
        "downloaded/ps1/archive/ada_2026-10-01T12:00:00+02:00_double.py": "x = 1",
        "downloaded/ps1/archive/bo_2026-10-01 12:00:00_double.py": "x = 1",
    }
    written(tmp_path, {"nbgrader_config.py": CONFIG, **texts})
    ran(tmp_path, "-m", "nbgrader", "zip_collect", "ps1", "--force")
    assert (tmp_path / "submitted/bo/ps1/timestamp.txt").read_text() == "2026-10-01 12:00:00"
    assert times_of(tmp_path, tiny) == {
        "ada ps1": "2026-10-01T10:00:00+00:00",
        "bo ps1": "2026-10-01T12:00:00+00:00",
    }


READ = """
import sys
from nbgrader.utils import parse_utc
print(*(parse_utc(line.strip()).isoformat() for line in sys.stdin), sep="\\n")
"""
STAMPS = [
    "2026-10-01 12:00:00.000000 UTC",
    "2026-10-01 12:00:00 Europe/Berlin",
    "2026-10-01 12:00:00.0",
    "2026-10-01T12:00Z",
]


def test_times_that_nbgrader_reads(tiny: Course, tmp_path: Path) -> None:
    """A time that we can read is the same in nbgrader."""
    written(tmp_path, {f"submitted/a{at}/ps1/{name}": text for at, stamp in enumerate(STAMPS)
                       for name, text in (("timestamp.txt", stamp), ("double.py", ""))})  # fmt: skip
    done = subprocess.run([PYTHON, "-c", READ], input="\n".join(STAMPS), capture_output=True, text=True, check=True)
    assert [f"{line}+00:00" for line in done.stdout.split()] == list(times_of(tmp_path, tiny).values())


SUITE = """
import unittest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


class Checks(unittest.TestCase):
    @weight(2)
    @number("1.1")
    @visibility("after_published")
    def test_one(self):
        \"\"\"One\"\"\"
        self.fail("no")


class Others(unittest.TestCase):
    @weight(1)
    def test_two(self):
        \"\"\"Two\"\"\"


load = unittest.defaultTestLoader.loadTestsFromTestCase
with open("results.json", "w") as file:
    JSONTestRunner(stream=file, visibility="visible").run(unittest.TestSuite([load(Checks), load(Others)]))
"""


def test_names_are_those_of_gradescopes_own_runner(tmp_path: Path) -> None:
    """What it writes of points, status and visibility has the names, types and words that we write."""
    (tmp_path / "suite.py").write_text(SUITE)
    ran(tmp_path, "suite.py")
    theirs: dict[str, Any] = json.loads((tmp_path / "results.json").read_text())
    (failed,) = [test for test in theirs["tests"] if test["score"] == 0]
    schema = json.loads((ROOT / "tests" / "schemas" / "gradescope.json").read_text())
    ours = schema["properties"]
    known = ours["tests"]["items"]["properties"]
    assert {*theirs} - {*ours} == set()
    assert {*failed} - {*known} == set()
    assert failed["visibility"] in known["visibility"]["enum"]
    assert {test["status"] for test in theirs["tests"] if "status" in test} <= {*known["status"]["enum"]}
