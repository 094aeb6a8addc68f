"""A file that is not Python is told at once, in the words of a worker that would load it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import FORK

from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.folder import read_submission
from grader.intake.source import not_python
from grader.model import Course, GradedExercise, Score, Submission


def handed_in(course: Course, folder: Path, source: bytes) -> Submission:
    (folder / "double.py").write_bytes(source)
    return read_submission(folder, course.exercises[:1], author="ada")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param(
            b"def double(x)\n    return x\n", "SyntaxError: expected ':'\n    {}, line 1\n        def", id="colon"
        ),
        pytest.param(b"def double(x):\nreturn x\n", "IndentationError: expected an indented block", id="indentation"),
        pytest.param(
            b"a\0b\n",
            "SyntaxError: source code string cannot contain null bytes\n    {}, line 1",
            id="null",
            marks=pytest.mark.skipif(sys.version_info < (3, 11, 4), reason="a ValueError there, which workers tell"),
        ),
        pytest.param(b"NAME = '\xe9'\n", "SyntaxError: (unicode error) 'utf-8' codec", id="latin-1"),
    ],
)
def test_why_it_is_no_python(tiny: Course, tmp_path: Path, source: bytes, words: str) -> None:
    """The error, the line, and its text, with the path as it is typed from here."""
    told = not_python(tiny.exercises[0], handed_in(tiny, tmp_path, source))
    asked = words.format(Path(os.path.relpath(tmp_path / "double.py")).as_posix())
    assert told.startswith(f"your double.py does not load: {asked}")


@pytest.mark.parametrize("source", [b"def double(x):\n    return x\n", b"1 / 0\n", b"x = '\\d'\n"])
def test_what_else_is_wrong_is_for_a_worker(tiny: Course, tmp_path: Path, source: bytes) -> None:
    """Nothing is run here, and no warning is told."""
    assert not_python(tiny.exercises[0], handed_in(tiny, tmp_path, source)) == ""


def test_no_lane_is_needed(tiny: Course, tmp_path: Path) -> None:
    """A student reads one row, all points are lost, and no process of ours was started."""
    submission = handed_in(tiny, tmp_path, b"def double(x:\n")
    plan = RunPlan(tiny, tiny.exercises[:1], FORK, compiles=True)
    assert plan.to_run(submission) == []
    seen: list[GradedExercise] = []
    no_lanes: Any = None
    report = grade_submission(plan, submission, no_lanes, on_finished=lambda one: seen.append(one.graded))
    (graded,) = report.exercises
    assert seen == [graded]
    assert (graded.state, graded.score) == ("started", Score(0, graded.exercise.points))
    assert [row.check.id for row in graded.checks] == ["load"]
    assert "does not load" in graded.checks[0].outcome.message
    assert replace(plan, compiles=False).to_run(submission) == list(tiny.exercises[:1])
