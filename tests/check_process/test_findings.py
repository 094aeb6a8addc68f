"""Lines of check files without effect on student code: the session finds them once, and who grades is warned once."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from check_process.courses import course_with, without_solutions
from support import FORK, grader_of, open_lane, verdicts

pytestmark = pytest.mark.lane

CHECKS = '''
import torch

from grader.check import check, assert_values


@check("C1")
def check_seeded(student):
    """Seeds nothing"""
    torch.manual_seed(0)
    assert_values(student.double(torch.ones(2)), torch.full((2,), 2.0))


def test_never_run(student):
    """Is left over"""
'''


def test_who_grades_is_warned_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By file and line, with what to write instead; however many lanes and submissions there are. It stops nobody."""
    course = course_with(tmp_path, CHECKS)
    path = course.root / "exercises/01_basics/double/check_double.py"
    with caplog.at_level(logging.WARNING, "grader"):
        for _ in range(2):
            with open_lane(course.exercises[:1], FORK) as lane:
                grade = grader_of(course, lane, tmp_path)
                for _ in range(2):
                    assert verdicts(grade("def double(x):\n    return 2 * x\n"))["seeded"] == "passed"
    assert [message.split(";")[0] for message in caplog.messages] == [
        f"{path}:10: `torch.manual_seed` seeds the check process, not student code",
        f"{path}:14: `test_never_run` is never run",
    ]
    assert "call `call_seeded(0, student.f, ...)`" in caplog.messages[0]


def test_students_are_not_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They cannot change a check file. Their copy of the course has no reference, or that of the bundled course."""
    course = course_with(tmp_path, CHECKS)
    for has_solutions in (True, False):
        own = course if has_solutions else without_solutions(course)
        exercise = replace(own.exercises[0], lints=not has_solutions)
        with caplog.at_level(logging.WARNING, "grader"), open_lane([exercise], FORK) as lane:
            assert lane.checks_of(exercise)
    assert caplog.messages == []
