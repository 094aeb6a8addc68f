"""The command as a user runs it, in a folder of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support import RIGHT, TOTAL, WarmGrade, run_grade

pytestmark = pytest.mark.lane


def starter(home: Path, exercise: str) -> Path:
    return home / "exercises" / "01_basics" / exercise / f"{exercise}.py"


def test_untouched_course_is_not_run(type_grade: WarmGrade, home: Path) -> None:
    """A bare `grade` lists untouched exercises as not started, earns nothing, and says which file to open."""
    ran = type_grade(cwd=home)
    assert ran.returncode == 1
    assert ran.stdout.count("not started") == 2
    assert "0 / 15 points" in ran.stdout
    assert "Next: 01-1 Double it:\n      exercises/01_basics/double/double.py" in ran.stdout


def test_solved_in_place(home: Path, tmp_path: Path) -> None:
    """All passes with status 0, in 80 columns and the code page of the console.

    Neither PYTEST_ADDOPTS, nor a conftest or ini of the course or the submission is read.
    """
    starter(home, "double").write_text("print('\u2603')\n" + RIGHT, encoding="utf-8")
    starter(home, "total").write_text(TOTAL)
    for folder in (home, home / "exercises/01_basics/double", home / "solutions"):
        (folder / "conftest.py").write_text("raise RuntimeError('read')\n")
        (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    more = {"PYTHONIOENCODING": "cp1252", "PYTEST_ADDOPTS": "--collect-only", "PYTHONPATH": str(tmp_path)}
    ran = run_grade("--html", "page.html", cwd=home, env={**os.environ, **more})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "15 / 15 points" in ran.stdout
    assert "15 / 15 points" in (home / "page.html").read_text(encoding="utf-8")
    assert "All checks that can run here passed." in ran.stdout
    assert "| \\u2603" in ran.stdout
    assert max(map(len, ran.stdout.split("\n"))) <= 80


def test_one_exercise_from_a_folder_inside(type_grade: WarmGrade, home: Path) -> None:
    """An exercise is named by id or number, from anywhere in the course; a half-solved one loses points."""
    starter(home, "double").write_text(RIGHT.replace("x.mul_(2)", "x * 2"))
    ran = type_grade("01-1", cwd=starter(home, "double").parent)
    assert ran.returncode == 1
    assert ran.stdout.isascii()
    assert "8.3 / 10 points" in ran.stdout
    assert "the result is not the argument itself" in ran.stdout
    assert "Next: fix double, then run  grade double" in ran.stdout


def test_json_and_submission_and_seed(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """The report has the keys that other programs rely on; - writes it to standard output and nothing else."""
    folder = tmp_path / "abgabe von José"
    folder.mkdir()
    (folder / "double.py").write_text("print('hi \\x1b[31m')\n" + RIGHT.replace("2 * x", "3 * x"))
    target = tmp_path / "report.json"
    ran = type_grade("double", "--submission", str(folder), "--json", str(target), "--seed", "7", cwd=home)
    assert ran.returncode == 1
    assert "\x1b" not in ran.stdout
    report = json.loads(target.read_text())
    assert report["version"] == 1
    assert report["author"] == "abgabe von José"
    assert report["score"] == {"earned": 0.0, "possible": 10.0, "undecided": 0.0}  # no value is right
    assert report["environment"]["seed"] == 7
    (exercise,) = report["exercises"]
    assert (exercise["id"], exercise["state"]) == ("double", "started")
    told = [(row["id"], row["verdict"]) for row in exercise["checks"]]
    assert told == [("small", "failed"), ("in_place", "passed"), ("random", "failed"), ("dtype", "passed")]
    keys = "id title contract category shown verdict earned possible held_back message detail seconds counters speed"
    assert " ".join(exercise["checks"][0]) == f"{keys} device cause picture line set_by function"
    assert [row["held_back"] for row in exercise["checks"]] == [0.0, 1.7, 0.0, 1.7]
    assert "expected  tensor([2., 4., 6.])" in exercise["checks"][0]["message"]
    assert "tensor(" not in exercise["checks"][2]["message"]
    assert {row["detail"] for row in exercise["checks"] if not row["shown"]} == {""}
    again = type_grade("double", "--submission", str(folder), "--json", "-", "--seed", "7", "--staff", cwd=home)
    same = json.loads(again.stdout)
    assert "tensor(" in same["exercises"][0]["checks"][2]["detail"]
    assert same["score"] == report["score"]


def test_folder_that_cannot_be_written_to(type_grade: WarmGrade, home: Path) -> None:
    """Where nothing can be kept, a check fails as it would, and an input that is too large to print has no lines."""
    check = home / "exercises/01_basics/total/check_total.py"
    small, large = "torch.tensor([1.0, 2.0, 4.0])), torch.tensor(7.0)", "torch.ones(50)), torch.tensor(50.0)"
    check.write_text(check.read_text().replace(small, large))
    (home / ".grade").write_text("in the way of a folder, as who runs the tests may write everywhere")
    starter(home, "total").write_text("def total(x):\n    return x.sum() + 1\n")
    ran = type_grade("total", cwd=home)
    assert ran.returncode == 1, ran.stdout
    assert "To see it in plain Python" not in ran.stdout
    assert "BROKEN" not in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nosuch"], "grade: there is no exercise or command 'nosuch'"),
        (["--submission", "nowhere"], "grade: nowhere is neither a folder with a submission nor a file"),
        (["batch", "nowhere", "--out", "o"], "grade: nowhere is neither a folder with submissions nor a zip of one"),
        (["batch", ".", "--out", "o", "--handin", "w"], "grade: this course has no hand-in 'w'; it has week1"),
        (["--seed", "x"], "'x' is not a valid integer"),
    ],
)
def test_wrong_command_is_one_line(type_grade: WarmGrade, home: Path, arguments: list[str], told: str) -> None:
    """A wrong command gets one line and exit status 2, without a traceback."""
    ran = type_grade(*arguments, cwd=home)
    assert ran.returncode == 2
    assert told in ran.stderr


def test_folder_without_a_course(type_grade: WarmGrade, tmp_path: Path) -> None:
    """One line and exit status 2."""
    ran = type_grade(cwd=tmp_path)
    assert (ran.returncode, ran.stderr.count("\n"), "there is no course here" in ran.stderr) == (2, 1, True)


def test_help_is_in_groups(type_grade: WarmGrade) -> None:
    """Those of a newcomer first, each in a sentence that does not end early; the options of `grade` are named."""
    shown = type_grade("--help", cwd=Path.cwd()).stdout
    lines = shown.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles[:4] == ["Start here:", "Learning:", "Teaching:", "CI and authoring:"]
    place = lines.index("Start here:")
    assert [line.split()[0] for line in lines[place + 1 : place + 11]] == [
        *("start", "next", "open", "[EXERCISE]...", "watch", "web", "try", "hint", "show", "list")
    ]
    assert not [line for line in lines[place:] if line.endswith("...") and "[" not in line]
    assert all(option in shown for option in ("--submission", "--json", "--seed", "--verbose", "--start"))


def test_report_that_cannot_be_written(type_grade: WarmGrade, home: Path) -> None:
    """--json to a place that is no folder is answered with a sentence; a folder that is not there is made."""
    ran = type_grade("double", "--json", "course.yaml/report.json", cwd=home)
    assert ran.returncode == 2
    assert "grade: --json: course.yaml/report.json cannot be written (" in ran.stderr
    type_grade("double", "--json", "new/report.json", cwd=home)
    assert (home / "new/report.json").is_file()


def test_file_of_the_exercise_counts_and_no_copy_in_the_root(type_grade: WarmGrade, home: Path) -> None:
    """In a course's folder the exercise's own file is graded; a stale copy in the root is named and not read."""
    (home / "total.py").write_text("def total(x):\n    return 1\n")
    starter(home, "total").write_text(TOTAL)
    ran = type_grade("exercises/01_basics/total/total.py", cwd=home)
    assert ran.returncode == 0, ran.stdout
    assert "total: several versions: exercises/01_basics/total/total.py counts, not total.py" in ran.stdout


def test_narrow_terminal_without_colour(type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines fit 40 columns; NO_COLOR is heard also where there is a terminal."""
    starter(home, "double").write_text(RIGHT.replace("2 * x", "3 * x"))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    ran = type_grade("1-1", cwd=home)
    too_long = [line for line in ran.stdout.split("\n") if len(line) > 40 and not line.startswith("        ")]
    assert too_long == []
    assert "\x1b" not in ran.stdout
