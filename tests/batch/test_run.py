"""`grade batch`: a folder per author in, reports and a gradebook out."""

from __future__ import annotations

import csv
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support import COURSES, RIGHT, WarmGrade

pytestmark = pytest.mark.lane

TOTAL = "def total(x):\n    return x.sum()\n"


@pytest.fixture(scope="module")
def graded(type_grade: WarmGrade, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a batch over a small class wrote, which was killed after the first author, and run again."""
    root = tmp_path_factory.mktemp("class")
    authors: dict[str, dict[str, str]] = {
        "ada": {"double.py": RIGHT, "total.py": TOTAL},
        "bo": {"double.py": RIGHT.replace("2 * x", "x + x + x").replace("mul_(2)", "mul_(3)")},
        "crash": {"double.py": "import os; os._exit(0)\n", "total.py": TOTAL},
        "=evil()": {"total.py": "def total(x):\n    raise ValueError(x)\n"},
        "Zoë K": {"total.py": (COURSES / "tiny/exercises/01_basics/total/total.py").read_text()},
    }
    for author, files in authors.items():
        for name, text in files.items():
            path = root / "in" / author / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (root / "in" / ".hidden").mkdir()
    (root / "in" / "link").symlink_to(root / "in" / "ada")
    out = root / "in" / "out"
    command = ("batch", str(root / "in"), "--out", str(out))
    one = [sys.executable, "-m", "grader", *command, "-j", "1"]  # so that the first of the class is the first done
    with subprocess.Popen(one, cwd=COURSES / "tiny", stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline().startswith(b"Grading ")
        told = next((line for line in killed.stdout if line.startswith(b"[")), b"")
        killed.kill()
    assert told == b"[1/5]          0 / 15  =evil()\n"
    ran = type_grade(*command, "-j", "2", cwd=COURSES / "tiny")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (root / "printed").write_text(ran.stdout)
    return out


def test_gradebook(graded: Path) -> None:
    """One row for each author, points by exercise, also in the printed table; what looks like a formula is quoted."""
    with (graded / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        table = {row["author"]: row for row in csv.DictReader(file)}
    assert list(table) == ["'=evil()", "Zoë K", "ada", "bo", "crash"]
    last = ["earned", "possible", "undecided", "late_days", "final", "not_handed_in", "not_started", "explained"]
    assert list(table["ada"]) == ["author", "double", "total", *last]
    assert (table["ada"]["double"], table["ada"]["total"], table["ada"]["final"]) == ("10", "5", "15")
    assert (table["bo"]["double"], table["bo"]["total"]) == ("0", "")
    assert (table["crash"]["double"], table["crash"]["total"]) == ("0", "5")
    assert table["Zoë K"]["earned"] == "0"
    # Nothing handed in, handed in as it was given out, and earned nothing: three things.
    told = {author: (row["total"], row["not_handed_in"], row["not_started"]) for author, row in table.items()}
    assert told["bo"] == ("", "total", "")
    assert told["Zoë K"] == ("0", "double", "total")
    assert told["'=evil()"] == ("0", "double", "")
    assert table["'=evil()"]["earned"] == "0"
    printed = (graded.parent.parent / "printed").read_text()
    assert "01-1   01-2           total  author" in printed
    assert "10      5         15 / 15  ada" in printed
    assert "  0      -          0 / 15  bo" in printed
    assert "-      =          0 / 15  Zoë K" in printed
    assert "  - nothing handed in  = handed in as it was given out" in printed
    assert " graded now; " in printed
    assert f"Reports and gradebook.csv are in {graded}" in " ".join(printed.split())  # it may be folded


def test_reports(graded: Path) -> None:
    """One report for each author, in a folder that only its owner reads; none tells where the inputs come from."""
    reports = {path.stem: json.loads(path.read_text()) for path in (graded / "reports").glob("*.json")}
    assert set(reports) == {"ada", "bo", "crash", "=evil()", "Zoë K"}
    assert {report["handin"] for report in reports.values()} == {None}
    assert stat.S_IMODE(graded.stat().st_mode) == 0o700
    assert {report["environment"]["seed"] for report in reports.values()} == {None}
    secret = (graded / "seed").read_text().strip()
    assert len(bytes.fromhex(secret)) == 32
    assert not [path for path in (graded / "reports").iterdir() if secret in path.read_text()]
    assert reports["Zoë K"]["exercises"][1]["state"] == "not_started"
    crashed = {row["verdict"] for row in reports["crash"]["exercises"][0]["checks"]}
    assert crashed == {"crashed"}
    seen = {row["device"] for report in reports.values() for item in report["exercises"] for row in item["checks"]}
    assert seen == {"none", None}  # where nothing was run, student code saw no device
    # Of what does not run, and of what is right, no known mistake is named.
    told = {author: report["exercises"][0]["diagnosis"] for author, report in reports.items()}
    assert told == {**dict.fromkeys(reports), "bo": "You tripled it; double means two times."}


def test_a_broken_secret_is_reported(type_grade: WarmGrade, graded: Path, tmp_path: Path) -> None:
    """A seed file that was written over stops a batch, before anybody gets other inputs than before."""
    (tmp_path / "seed").write_text("123\n")
    ran = type_grade("batch", str(graded.parent), "--out", str(tmp_path), cwd=COURSES / "tiny")
    assert ran.returncode == 3
    assert "does not hold the batch's secret; restore it, or grade into a new folder" in ran.stderr
