"""The time that a check's own code may take: what hangs is broken and costs nobody a point; calls are not counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_process.courses import course_with
from support import FORK, RIGHT, grader_of, open_lane, verdicts

from grader.course.load import load_course

pytestmark = pytest.mark.lane

CHECKS = '''
import time

import pytest
import torch

from grader.check import check


@pytest.fixture
def late():
    yield
    time.sleep(100)


@check("C1")
def check_torn_down(student, late):
    """Hangs after its last line"""


@pytest.mark.timeout(0.5)
@check("C1")
def check_marked(student):
    """Says itself how long it may take"""
    time.sleep(100)


@pytest.mark.timeout(0.5, method="thread")
@check("C1")
def check_calls(student):
    """Waits for slow calls"""
    for _ in range(3):
        student.double(torch.ones(()))


@pytest.mark.timeout("soon")
@check("C1")
def check_mistaken(student):
    """Has a mark that is no number"""


@pytest.mark.timeout(0.5, method="thread")
@check("C1")
def check_without_signals(student):
    """Hangs where there is no SIGALRM"""
    time.sleep(100)
'''


def test_what_hangs_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a signal and with a thread, in a fixture too; a slow call of the student's is not the check's own time."""
    monkeypatch.setenv("PYTEST_TIMEOUT", "0.001")  # of the user's own tests
    root = course_with(tmp_path, CHECKS, "").root
    yaml = root / "course.yaml"
    yaml.write_text(yaml.read_text() + "  check_s: 1\n  exercise_s: 60\n")
    course = load_course(root)
    with open_lane(course.exercises, FORK) as lane:
        graded = grader_of(course, lane, tmp_path)(
            f"import time\n{RIGHT.replace('return 2', 'time.sleep(0.4); return 2')}"
        )
    assert verdicts(graded) == {
        "torn_down": "broken",
        "marked": "broken",
        "calls": "passed",
        "mistaken": "broken",
        "without_signals": "broken",
    }
    details = {row.check.id: row.outcome.detail for row in graded.checks}
    assert "the check's own code took longer than 1 seconds" in details["torn_down"]
    assert "the check's own code took longer than 0.5 seconds" in details["marked"]
    assert "could not convert string to float: 'soon'" in details["mistaken"]
    assert "the check process ended: " in details["without_signals"]
    assert "the check's own code took longer than 0.5 seconds" in details["without_signals"]
    assert graded.score.earned + graded.score.undecided == graded.score.possible
