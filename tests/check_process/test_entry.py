"""The check process starts light, and what is printed in it does not reach the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_process.courses import course_with, graded
from support import RIGHT

from grader.model import Course
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

LOUD = """
import os, sys
print("printed at import")
sys.stdout.flush()
os.write(1, b"TGR1 written at import")
os.system("echo from a shell")
"""


def test_what_a_check_file_prints_at_import_is_not_the_protocol(tiny: Course, tmp_path: Path) -> None:
    """Neither a print, nor a write to the descriptor, nor a program that it starts disturbs the channel."""
    double = tiny.exercises[0]
    assert double.shown_checks and double.hidden_checks
    texts = [LOUD + path.read_text() for path in (double.shown_checks, double.hidden_checks)]
    with graded(course_with(tmp_path, *texts), tmp_path) as grade:
        found = grade(RIGHT)
    assert found.score.earned == found.score.possible
    assert found.output == ""


def test_exercises_without_checks_are_reported_at_once(tiny: Course, fork_lane: Lane) -> None:
    """A plan in which no file has checks is answered, and so is the next one."""
    fork_lane.recollect(())
    assert fork_lane.collected.checks == ()
    fork_lane.recollect(tiny.exercises)
    assert fork_lane.checks_of(tiny.exercises[0])
