"""`grade try`, `grade open` and `grade doctor`, as a student types them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import RIGHT, WarmGrade

from grader.cli import main
from grader.model import Check, GradedCheck, Outcome, Score, Verdict
from grader.student.lines_to_try import lines_of, with_printed_expressions


def test_lines_of_a_failing_check_are_run(type_grade: WarmGrade, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The lines that the report prints run in the exercise's folder, and what they print is shown; if any fails."""
    file = home / "exercises/01_basics/double/double.py"
    file.write_text(RIGHT)
    tried = type_grade("try", "double", cwd=home)
    assert (tried.returncode, "all checks of double pass, so there is nothing to try" in tried.stderr) == (2, True)
    file.write_text(RIGHT.replace("2 * x", "3 * x"))
    tried = type_grade("try", "double", cwd=home)
    assert (tried.returncode, "    from double import double" in tried.stdout) == (0, True)
    assert tried.stdout.partition("Output:\n")[2].startswith("tensor(")
    assert capfd.readouterr().out == ""  # no other process prints there


def test_lines_are_run_in_a_worker(type_grade: WarmGrade, home: Path) -> None:
    """The sandbox runs a course's lines, and no interpreter of the student's; a traceback has the student's lines."""
    file = home / "exercises/01_basics/double/double.py"
    text = "import os\n\n\ndef double(x):\n    print('pid', os.getpid())\n    return x.nothing\n"
    file.write_text(text)
    shown = type_grade("try", "double", cwd=home).stdout.partition("Output:\n")[2]
    assert 'File "double.py", line 6, in double\n    return x.nothing' in shown
    assert shown.endswith("AttributeError: 'Tensor' object has no attribute 'nothing'\n")
    assert f"pid {os.getpid()}\n" not in shown


DEVICE_CHECK = """
import torch
from grader.check import check, assert_values


@check("C1", device="sim")
def check_there(student, accelerator):
    '''On a device'''
    assert_values(student.double(accelerator.put(torch.ones(2))), 2 * torch.ones(2))
"""


def test_lines_for_the_simulated_gpu_are_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines turn it on, as a student's own prompt needs; in the worker it is on already."""
    (home / "exercises/01_basics/double/check_double.py").write_text(DEVICE_CHECK)
    (home / "exercises/01_basics/double/double.py").write_text("def double(x):\n    return 3 * x\n")
    monkeypatch.chdir(home)
    tried = CliRunner().invoke(main, ["try", "double"])
    assert (tried.exit_code, 'accelerator.enable("sim")' in tried.output) == (0, True), tried.output
    assert tried.output.endswith("Output:\ntensor([3., 3.], device='sim:0')\n")


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("no\nTry this: f(torch.ones(2)).dtype", ["import torch", "from m import *", "print(f(torch.ones(2)).dtype)"]),
        ("it is wrong\nTry this:\n    x = f(1); x + 1", ["from m import *", "x = f(1)", "print(x + 1)"]),
        ("it is wrong\nTry this: another value, (any) one", []),
        ("it is wrong", []),
        ("no\nTry this: x = f('torch. np.'); print(x)", ["from m import *", "x = f('torch. np.')", "print(x)"]),
        ("no\nTry this: f(1), and f(', and ')", ["from m import *", "print(f(1), f(', '))"]),
        ("no\nTry this: f(', and ')", ["from m import *", "print(f(', and '))"]),
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
    failed = type_grade("open", "double", cwd=home)
    assert failed.returncode == 2
    assert "the editor did not start or failed (no-such-editor: " in failed.stderr
    assert "; correct VISUAL or EDITOR" in failed.stderr


def test_doctor_answers_a_student(type_grade: WarmGrade, home: Path) -> None:
    """The course, the progress, the editor and PyTorch come first."""
    lines = type_grade("doctor", cwd=home).stdout.splitlines()
    names = [line[:18].strip() for line in lines[:14] if line[:1].strip()]
    assert names[:3] == ["course", "progress", "editor"]
    assert {"torch", "GPU"} <= set(names)


@pytest.mark.parametrize(
    ("lines", "run"),
    [
        ("x = 1\nx", "x = 1\nprint(x)"),
        ("print(1)\n'\u00e4'; f(\n 2)", "print(1)\nprint('\u00e4'); print(f(\n 2))"),
        ("for i in range(2):\n    i", "for i in range(2):\n    i"),
        ("x +", "x +"),
    ],
)
def test_a_prompt_prints_what_is_an_expression(lines: str, run: str) -> None:
    """Each keeps its line, so that a traceback names the line that was typed; a wrong text stays as it is."""
    assert with_printed_expressions(lines) == run
