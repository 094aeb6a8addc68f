"""`grade pack`: one zip to hand in, which a batch reads."""

from __future__ import annotations

import csv
import hashlib
import shutil
from pathlib import Path

import pytest
from support import COURSES, TOTAL, WarmGrade, written

RIGHT = "from helper import twice\n\n\ndef double(x):\n    return twice(x)\n\n\ndef double_(x):\n    return x.mul_(2)\n"
PLACE = "exercises/01_basics/double"


@pytest.fixture
def home(home: Path) -> Path:
    """A student's copy of the pretend course, with one exercise solved in two files."""
    shutil.rmtree(home / "solutions")
    return written(home, {f"{PLACE}/double.py": RIGHT, f"{PLACE}/helper.py": "def twice(x):\n    return 2 * x\n"})


def test_packed_zip_is_graded_by_a_batch(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """The zip has all that is read of a hand-in, is the same each time, and earns in a batch what the folder earns."""
    ran = type_grade("pack", cwd=home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "shown checks 10 / 10 points" in ran.stdout  # this copy says nothing of hidden ones
    data = (home / "week1.zip").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert f"  {digest[:32]}\n  {digest[32:]}\n" in ran.stdout
    receipt = (home / "week1.receipt.txt").read_text()
    assert f"\n{digest}  week1.zip\n" in receipt
    assert f"# {hashlib.sha256(RIGHT.encode()).hexdigest()}  {PLACE}/double.py\n" in receipt
    other = written(tmp_path / "elsewhere", {"notes.txt": ""})
    again = type_grade("pack", "--handin", "week1", "--out", str(other), "--quiet", cwd=home / PLACE)
    assert again.stdout == f"{other / 'week1.zip'}\n"
    assert (other / "week1.zip").read_bytes() == data

    submissions = written(tmp_path / "in", {"bo/week1.zip": data, "ada.zip": data, "cy.zip": data[:-40]})
    words = ("batch", str(submissions), "--handin", "week1", "--confinement", "none", "--out")
    graded = type_grade(*words, str(tmp_path / "out"), cwd=COURSES / "tiny")
    assert graded.returncode == 0, graded.stdout + graded.stderr
    with (tmp_path / "out/gradebook.csv").open(encoding="utf-8", newline="") as file:
        assert {row["author"]: row["earned"] for row in csv.DictReader(file)} == {"ada": "10", "bo": "10", "cy": "0"}
    assert "cy.zip cannot be read as a zip" in (tmp_path / "out/reports/cy.json").read_text()
    written(submissions, {"ada/double.py": RIGHT.replace("twice(x)", "x")})
    one = ("--only", "double", "--author", "ada")
    again = type_grade(*words, str(tmp_path / "out2"), *one, cwd=COURSES / "tiny")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "several versions: double.py counts, not ada.zip/" in (tmp_path / "out2/reports/ada.json").read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "01-1 double: double.py is not among the submitted files"),
        ("def double(x:\n", "01-1 double: your double.py does not load: SyntaxError"),
        ("starter", "01-1 double: the file is still the unchanged starter; it earns 0"),
    ],
)
def test_what_had_better_not_be_handed_in(type_grade: WarmGrade, home: Path, text: str | None, told: str) -> None:
    """A missing, broken or untouched file is told, and nothing is packed but by force."""
    course = (home / "course.yaml").read_text().replace("[double]\nlimits", "[double, total]\nlimits")
    written(home, {"course.yaml": course, "exercises/01_basics/total/total.py": TOTAL})
    path = home / PLACE / "double.py"
    if text is None:
        path.unlink()
    else:
        starter = COURSES / "tiny" / PLACE / "double.py"
        path.write_text(starter.read_text() if text == "starter" else text)
    ran = type_grade("pack", cwd=home)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert told in ran.stdout
    assert "Nothing was packed." in ran.stdout
    assert list(home.glob("week1*")) == []
    if text == "starter":
        forced = type_grade("pack", "--force", cwd=home)
        assert forced.returncode == 0, forced.stdout + forced.stderr
        assert f"# {told}" in (home / "week1.receipt.txt").read_text()
        quiet = type_grade("pack", "--force", "-q", cwd=home).stdout.splitlines()
        assert (told in quiet[0], quiet[-1]) == (True, "week1.zip")


def test_wrong_commands_are_reported_before_anything_runs(type_grade: WarmGrade, home: Path) -> None:
    """No such hand-in, several of them, no folder to write to, nothing to pack: a line each, and status 2."""
    assert "this course has no hand-in 'w'" in type_grade("pack", "--handin", "w", cwd=home).stderr
    assert (
        "nowhere is not a folder; create it with  mkdir nowhere"
        in type_grade("pack", "--out", "nowhere", cwd=home).stderr
    )
    text = (home / "course.yaml").read_text()
    (home / "course.yaml").write_text(text.replace("limits:", "  - {id: week2, title: W, exercises: [total]}\nlimits:"))
    ran = type_grade("pack", cwd=home)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "say which hand-in: --handin week1 or week2" in ran.stderr
    (home / PLACE / "double.py").unlink()
    assert "there is nothing to pack: double.py is not" in type_grade("pack", "--handin", "week1", cwd=home).stderr
