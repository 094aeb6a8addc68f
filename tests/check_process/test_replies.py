"""What a submission's replies may cost the check process, and who pays if it is lost or late."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from check_process.courses import course_with
from support import FORK, RIGHT, grader_of, open_lane, verdicts

from grader.course.load import load_course
from grader.model import Course
from grader.model.messages import NOT_PENDING
from grader.runner import lane as lanes
from grader.runner.lane import Lane
from grader.sandbox import clock

pytestmark = pytest.mark.lane

SLEEPS = "import time\n\n\ndef double(x):\n    time.sleep(100)\n\n\ndef double_(x):\n    return x.mul_(2)\n"

MANY = '''
import torch

from grader.check import check


@check("C1")
def check_many(student):
    """Keeps what sixteen calls return"""
    assert len([student.double(torch.ones(1)) for _ in range(16)]) == 16


@check("C1")
def check_one(student):
    """Calls once"""
    assert student.double(torch.ones(1)) is not None
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course whose exercise with a check that keeps many results."""
    root = course_with(tmp_path, hidden=MANY).root
    yaml = root / "exercises/01_basics/double/exercise.yaml"
    yaml.write_text(yaml.read_text() + "limits: {call_s: 100, exercise_s: 60, memory_mb: 1024}\n")
    return load_course(root)


def test_one_limit_for_all_replies(course: Course, tmp_path: Path) -> None:
    """Sixteen replies, of which each is allowed, do not cost sixteen times as much, as memory or as objects."""
    with open_lane(course.exercises, FORK) as lane:
        for reply in ("torch.zeros(8 << 20, dtype=torch.float64)", "list(range(1 << 20, 3 << 19))"):
            graded = grader_of(course, lane, tmp_path)(f"import torch\n\n\ndef double(x):\n    return {reply}\n")
            assert verdicts(graded) == {"small": "failed", "in_place": "error", "many": "over_limit", "one": "passed"}
        assert lane._process is not None
        memory = clock.memory(lane._process.pid)
        assert memory is not None
        assert memory.peak < 1300 << 20


def lose_process(lane: Lane) -> None:
    """Kill the check process while it waits for the call that sleeps.

    It also waits, for a moment, until the submission is loaded: by the time of the kill, that could be over.
    """
    path = lane._mark
    pending_since, until = time.monotonic(), time.monotonic() + 120
    while time.monotonic() < min(until, pending_since + 1):
        if path.read_bytes() == NOT_PENDING:
            pending_since = time.monotonic()
        time.sleep(0.01)
    assert lane._process is not None
    os.kill(lane._process.pid, signal.SIGKILL)


def test_a_check_process_that_is_lost(course: Course, tmp_path: Path) -> None:
    """Between two authors a new one takes its place; over a reply the submission went beyond a limit, and not we."""
    with open_lane(course.exercises, FORK) as lane:
        grade = grader_of(course, lane, tmp_path)
        assert grade(RIGHT).score.earned == 1000
        assert lane._process is not None
        os.kill(killed := lane._process.pid, signal.SIGKILL)
        assert grade(RIGHT).score.earned == 1000
        assert lane._process.pid != killed
        killer = threading.Thread(target=lose_process, args=(lane,))
        killer.start()
        assert set(verdicts(grade(SLEEPS)).values()) == {"over_limit"}
        killer.join()
        assert grade(RIGHT).score.earned == 1000


def test_late_by_itself(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What sleeps past the deadline is not run again alone, but what had to wait for a core for so long is."""
    yaml = course.root / "exercises/01_basics/double/exercise.yaml"
    yaml.write_text(yaml.read_text().replace("exercise_s: 60", "exercise_s: 2"))
    course = load_course(course.root)
    with open_lane(course.exercises, FORK) as lane:
        for share, starved in ((1.0, False), (0.0, True)):
            monkeypatch.setattr(lanes, "_WAITED", share)
            (exercise,) = (exercise for exercise in course.exercises if exercise.id == "double")
            run = lane.run(exercise, {"double.py": SLEEPS.encode()}, 0)
            (small,) = (outcome for outcome in run.outcomes if outcome.check == "small")
            assert small.verdict == "timed_out"
            assert "the exercise as a whole took longer than 2 seconds" in small.message
            assert run.starved is starved
