"""What an author hands in costs nobody else a point or an attempt, and keeps no lane from working."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import COURSES, RIGHT

from grader.batch.run import Order, Summary, grade_batch
from grader.course.load import load_course
from grader.grading.plan import RunPlan
from grader.intake.layouts import taken_in
from grader.model import Exercise, GradedExercise
from grader.model.messages import Setup, Start
from grader.runner import lane as lanes
from grader.runner.lane import Lane, Run, gone

LARGE = f"import torch\n{RIGHT}".replace("2 * x", "torch.zeros(1 << 16) if x.shape == (1,) else x + x")
SLEEPS = "import time\n\n\ndef double(x):\n    time.sleep(100)\n"

# The kernel ends the check process while it takes in the sixteenth large reply; in this test it ends itself.
LOSES = '''
import os
import signal

import torch

from grader.check import check
from grader.connection import connection

_decode = connection.Decoder.decode
large = []


def decode(self, *args):
    values = _decode(self, *args)
    large.extend(value for value in values if isinstance(value, torch.Tensor) and value.numel() == 1 << 16)
    if len(large) == 16:
        os.kill(os.getpid(), signal.SIGKILL)
    return values


connection.Decoder.decode = decode


@check("C1")
def check_many(student):
    """Keeps what sixteen calls return"""
    assert len([student.double(torch.ones(1)) for _ in range(16)]) == 16
'''

# The same while a check works with a reply: fewer bytes than that are much here.
LOSES_LATER = '''
import os
import signal

import torch

from grader.check import check
from grader.connection import record

record._MUCH = 1 << 16


@check("C1")
def check_sum(student):
    """Adds up what a call returns"""
    if len(student.double(torch.ones(1))) > 1:
        os.kill(os.getpid(), signal.SIGKILL)
'''


class RealClass:
    """A class that is graded in real lanes.

    Args:
        root: a folder for its course, what is handed in, and the reports.
        checks: the hidden checks of its exercise `double`; "" for those of the pretend course.
        limits: of that exercise, in YAML.
    """

    def __init__(self, root: Path, checks: str = "", limits: str = "{}") -> None:
        course = Path(shutil.copytree(COURSES / "tiny", root / "course"))
        if checks:
            (course / "solutions/01_basics/double/check_double.py").write_text(checks)
        yaml = course / "exercises/01_basics/double/exercise.yaml"
        yaml.write_text(f"{yaml.read_text()}limits: {limits}\n")
        self._course = load_course(course)
        self._root = root
        self.graded: dict[str, GradedExercise] = {}

    def hand_in(self, works: Mapping[str, str]) -> None:
        """What authors hand in, by their names."""
        for author, text in works.items():
            folder = self._root / "in" / author
            folder.mkdir(parents=True)
            (folder / "double.py").write_text(text)

    def grade(self, slots: int) -> Summary:
        """Grade `double` in so many lanes; `graded` then has it by author."""
        exercises = [exercise for exercise in self._course.exercises if exercise.id == "double"]
        with taken_in(self._root / "in", exercises, out=self._root / "out") as intake:
            return grade_batch(
                RunPlan(self._course, exercises, Setup(Start.FORK)),
                intake,
                self._root / "out",
                Order(),
                slots=slots,
                on_book=lambda found: self.graded.update((report.author, report.exercises[0]) for report in found),
            )

    def verdicts(self) -> dict[str, set[str]]:
        """The verdicts of each author, without shown checks."""
        return {
            author: {row.outcome.verdict.value for row in graded.checks if not row.check.shown}
            for author, graded in self.graded.items()
        }


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What lanes ran, in order."""
    ran: list[bytes] = []
    real = Lane.run

    def run(self: Lane, exercise: Exercise, files: Mapping[str, bytes], *args: Any, **more: Any) -> Run:
        ran.append(files["double.py"])
        return real(self, exercise, files, *args, **more)

    monkeypatch.setattr(Lane, "run", run)
    return ran


def breaks_once(real: Callable[..., Run]) -> Callable[..., Run]:
    """Runs, and is broken the first time for a right answer: an accident of ours."""
    met: set[bytes] = set()

    def run(self: Lane, exercise: Exercise, files: Mapping[str, bytes], *args: Any, **more: Any) -> Run:
        text = files["double.py"]
        if b"2 * x" not in text or text in met:
            return real(self, exercise, files, *args, **more)
        met.add(text)
        return Run([gone(check, "an accident") for check in self.checks_of(exercise)], "")

    return run


def test_lost_over_large_replies(tmp_path: Path, runs: list[bytes]) -> None:
    """Whose replies cost the check process is over a limit, at once; the others get their points."""
    school = RealClass(tmp_path, LOSES_LATER)
    school.hand_in({"a": RIGHT, "b": LARGE, "c": RIGHT})
    summary = school.grade(slots=1)
    assert school.verdicts() == {"a": {"passed"}, "b": {"over_limit"}, "c": {"passed"}}
    assert (summary.broken, runs.count(LARGE.encode())) == ({}, 1)


def test_who_loses_the_check_process_uses_up_no_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    """Three of them in a row, and what was broken by an accident for the one after them is graded again."""
    monkeypatch.setattr(Lane, "run", breaks_once(Lane.run))
    school = RealClass(tmp_path, LOSES)
    school.hand_in(dict.fromkeys("abc", LARGE) | {"d": RIGHT})
    summary = school.grade(slots=1)
    assert school.verdicts() == {name: {"over_limit"} for name in "abc"} | {"d": {"passed"}}
    assert (summary.broken, runs.count(LARGE.encode())) == ({}, 3)


def test_who_sleeps_does_not_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]) -> None:
    """What misses its deadline asleep is not run again while all other lanes rest."""
    monkeypatch.setattr(lanes, "_WAITED", 1.0)  # however busy the machine is
    school = RealClass(tmp_path, limits="{call_s: 100, exercise_s: 2}")
    school.hand_in({"a": SLEEPS, "b": RIGHT, "c": RIGHT})
    school.grade(slots=2)
    assert school.verdicts() == {"a": {"timed_out"}, "b": {"passed"}, "c": {"passed"}}
    assert runs.count(SLEEPS.encode()) == 1
