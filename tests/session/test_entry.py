"""The check process starts light, and what is printed in it does not reach the host."""

from __future__ import annotations

import shutil
from pathlib import Path

from support import COURSES, FORK, grader_of

from grader.course.load import load_course
from grader.model import Course
from grader.runner.lane import Lane
from grader.runner.pool import open_lane

LOUD = """
import os, sys
print("printed at import")
sys.stdout.flush()
os.write(1, b"TGR1 written at import")
os.system("echo from a shell")
"""
RIGHT = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n"


def test_what_a_check_file_prints_at_import_is_not_the_protocol(tmp_path: Path) -> None:
    """Neither a print, nor a write to the descriptor, nor a program that it starts disturbs the channel."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    for path in (
        root / "exercises/01_basics/double/check_double.py",
        root / "solutions/01_basics/double/check_double.py",
    ):
        path.write_text(LOUD + path.read_text())
    course = load_course(root)
    with open_lane(course.exercises[:1], FORK) as lane:
        graded = grader_of(course, lane, tmp_path)(RIGHT)
    assert graded.score.earned == graded.score.possible
    assert graded.output == ""


def test_exercises_without_checks_are_told_at_once(tiny: Course, fork_lane: Lane) -> None:
    """A plan in which no file has checks is answered, and so is the next one."""
    fork_lane.collect_anew(())
    assert fork_lane.collected.checks == ()
    fork_lane.collect_anew(tiny.exercises)
    assert fork_lane.checks_of(tiny.exercises[0])
