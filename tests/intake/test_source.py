"""A file that is not Python is told at once, in the words of a worker that would load it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import FORK, Noted

from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.intake.collect import read_submission
from grader.intake.match import syntax_error
from grader.model import Course, Score, Submission


def handed_in(course: Course, folder: Path, source: bytes) -> Submission:
    (folder / "double.py").write_bytes(source)
    return read_submission(folder, course.exercises[:1], author="ada")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"def double(x)\n    return x\n", "SyntaxError: expected ':'\n    {}, line 1\n        def"),
        (b"def double(x):\nreturn x\n", "IndentationError: expected an indented block"),
        pytest.param(
            b"a\0b\n",
            "SyntaxError: source code string cannot contain null bytes\n    {}, line 1",
            marks=pytest.mark.skipif(sys.version_info < (3, 11, 4), reason="a ValueError there, which workers tell"),
        ),
        (b"NAME = '\xe9'\n", "SyntaxError: (unicode error) 'utf-8' codec"),
    ],
)
def test_why_it_is_not_python(tiny: Course, tmp_path: Path, source: bytes, words: str) -> None:
    """The error, the line, and its text, with the path as it is typed from here."""
    told = handed_in(tiny, tmp_path, source).exercises["double"].error
    asked = words.format(Path(os.path.relpath(tmp_path / "double.py")).as_posix())
    assert told.startswith(f"your double.py does not load: {asked}")


def test_what_else_is_wrong_is_for_a_worker(tiny: Course, tmp_path: Path) -> None:
    """Nothing is run here, and no warning is told."""
    for source in (b"def double(x):\n    return x\n", b"1 / 0\n", b"x = '\\d'\n"):
        assert handed_in(tiny, tmp_path, source).exercises["double"].error == ""


def nested(depth: int, block: str) -> str:
    """`finally` blocks inside one another, each of which `compile` copies for every way out of its `try`."""
    lines = [f"{'    ' * at}try:\n{'    ' * (at + 1)}{block}\n{'    ' * at}finally:\n" for at in range(depth)]
    return "".join(lines) + "    " * depth + "pass\n"


@pytest.mark.timeout(20)
def test_nested_finally_is_looked_at_quickly() -> None:
    """Nineteen of them took 13 s and 1.5 GB."""
    assert syntax_error(nested(19, "x = 1")) is None


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("try:\n    x = 1\nfinally:\n    await y", "'await' outside function"),
        ("try:\n    return 1\nexcept* ValueError:\n    pass\nfinally:\n    pass", "'return' outside function"),
        ("def f(x, x): pass", "duplicate argument 'x'"),
        ("for x in y:\n  try:\n    pass\n  finally:\n    x = 1\n  continue\nbreak", "'break' outside loop"),
    ],
)
def test_what_the_parser_does_not_see(source: str, why: str) -> None:
    """What the compiler alone refuses is found as well."""
    assert why in str(syntax_error(source))


@pytest.mark.parametrize(
    ("source", "note"),
    [
        (b"# \xe9\nx = 1\n", "invalid or missing encoding declaration"),
        (b"x = 1\n# coding: no\n", ""),
        (b"# coding: nope\nx = 1\n", "unknown encoding: nope"),
        (b"# coding: latin-1\n# \xe9\n", ""),
    ],
)
def test_a_file_that_plain_python_refuses(tiny: Course, tmp_path: Path, source: bytes, note: str) -> None:
    """It is said what is wrong with how it was saved."""
    notes = handed_in(tiny, tmp_path, source).exercises["double"].notes
    why = f"plain Python refuses double.py, because of how it is saved ({note}); save it as UTF-8"
    assert notes == ((why,) if note else ())


def test_a_file_that_is_saved_as_utf_16(tiny: Course, tmp_path: Path) -> None:
    """It is read by nothing, and its author reads what to do."""
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        found = handed_in(tiny, tmp_path, "def double(x):\n    return x\n".encode(encoding))
        assert found.exercises["double"].problem == "double.py cannot be read: it is saved as UTF-16; save it as UTF-8"


def test_no_lane_is_needed(tiny: Course, tmp_path: Path) -> None:
    """A student reads one row, all points are lost, and no process of ours was started."""
    submission = handed_in(tiny, tmp_path, b"def double(x:\n")
    plan = RunPlan(tiny, tiny.exercises[:1], FORK, compiles=True)
    assert plan.to_run(submission) == []
    no_lanes: Any = SimpleNamespace(progress=Noted())
    report = grade_submission(plan, submission, no_lanes)
    (graded,) = report.exercises
    assert no_lanes.progress.exercises == [graded]
    assert (graded.state, graded.score) == ("started", Score(0, graded.exercise.points))
    assert [row.check.id for row in graded.checks] == ["load"]
    assert "does not load" in graded.checks[0].outcome.message
    assert replace(plan, compiles=False).to_run(submission) == list(tiny.exercises[:1])
