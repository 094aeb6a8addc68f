"""`grade try`, `grade open` and `grade doctor`, as a student types them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support import WarmGrade

from grader.model import Check, GradedCheck, Outcome, Score, Verdict
from grader.student.own import lines_of


def test_lines_of_a_failing_check_are_run(type_grade: WarmGrade, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The lines that the report prints run in the exercise's folder, and what they print is shown."""
    (home / "exercises/01_basics/double/double.py").write_text(
        "def double(x):\n    return 3 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n"
    )
    tried = type_grade("try", "double", cwd=home)
    assert tried.returncode == 0
    assert "    from double import double" in tried.stdout
    assert capfd.readouterr().out.startswith("tensor(")


def test_a_solved_exercise_has_nothing_to_try(type_grade: WarmGrade, home: Path) -> None:
    """It is a sentence with status 2."""
    shutil.copy(home / "solutions/01_basics/double/double.py", home / "exercises/01_basics/double/double.py")
    tried = type_grade("try", "double", cwd=home)
    assert tried.returncode == 2
    assert "all checks of double pass, so there is nothing to try" in tried.stderr


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("no\nTry this: f(torch.ones(2)).dtype", ["import torch", "from m import *", "print(f(torch.ones(2)).dtype)"]),
        ("it is wrong\nTry this:\n    x = f(1); x + 1", ["from m import *", "x = f(1)", "print(x + 1)"]),
        ("it is wrong\nTry this: another value, (any) one", []),
        ("it is wrong", []),
        ("no\n\nTo see it in plain Python:\n    from m import f\n    print(f(1))", ["from m import f", "print(f(1))"]),
    ],
)
def test_lines_are_read_from_a_message(message: str, lines: list[str]) -> None:
    """Lines are as they stand; an example gets imports and `print`; advice in words is not code."""
    row = GradedCheck(Check("c", "m", "C"), Outcome("c", Verdict.FAILED, message), Score(0, 100))
    assert list(lines_of(row, "m")) == lines


def test_open_starts_the_editor(
    type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """VISUAL or EDITOR gets the file; without them a sentence says what to set."""
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    refused = type_grade("open", "double", cwd=home)
    assert refused.returncode == 2
    assert "first set EDITOR or VISUAL to the command of your editor" in refused.stderr
    monkeypatch.setenv("EDITOR", "cat")
    assert type_grade("open", "double", cwd=home).returncode == 0
    assert "def double(x)" in capfd.readouterr().out
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "did not start" in type_grade("open", "double", cwd=home).stderr


def test_doctor_answers_a_student(type_grade: WarmGrade, home: Path) -> None:
    """The course, the progress, the editor and PyTorch come first."""
    lines = type_grade("doctor", cwd=home).stdout.splitlines()
    names = [line[:18].strip() for line in lines[:14] if line[:1].strip()]
    assert names[:3] == ["course", "progress", "editor"]
    assert {"torch", "GPU"} <= set(names)
