"""What an author hands in costs nobody else a point or an attempt, and keeps no lane from working."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import COURSES, RIGHT

from grader.batch.results_folder import ResultsFolder
from grader.batch.run import BatchOptions, grade_batch
from grader.course.load import load_course
from grader.grading.plan import RunPlan
from grader.intake.collect import open_intake
from grader.model import BROKEN_MESSAGE, Exercise, Outcome, Report, Verdict
from grader.model.messages import Setup, Start
from grader.runner import lane as lanes
from grader.runner.lane import JobResult, Lane

pytestmark = [pytest.mark.lane, pytest.mark.slow]

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
from grader.worker_process import waiting

waiting._MUCH = 1 << 16


@check("C1")
def check_sum(student):
    """Adds up what a call returns"""
    if len(student.double(torch.ones(1))) > 1:
        os.kill(os.getpid(), signal.SIGKILL)
'''


def graded(
    root: Path, works: Mapping[str, str], slots: int, checks: str = "", limits: str = "{}"
) -> dict[str, set[str]]:
    """The verdicts of hidden checks by author, as real lanes find them; nothing may stay broken.

    Args:
        root: a folder for the course, what is handed in, and the reports.
        works: what authors hand in, by their names.
        slots: how many lanes work at once.
        checks: the hidden checks of the exercise `double`; "" for those of the pretend course.
        limits: of that exercise, in YAML.
    """
    folder = Path(shutil.copytree(COURSES / "tiny", root / "course"))
    if checks:
        (folder / "solutions/01_basics/double/check_double.py").write_text(checks)
    with (folder / "exercises/01_basics/double/exercise.yaml").open("a") as yaml:
        yaml.write(f"limits: {limits}\n")
    for author, text in works.items():
        (root / "in" / author).mkdir(parents=True)
        (root / "in" / author / "double.py").write_text(text)
    plan = RunPlan(course := load_course(folder), course.exercises[:1], Setup(Start.FORK))
    found: list[Report] = []
    with open_intake(root / "in", plan.exercises, out=root / "out") as intake:
        results = ResultsFolder.make(root / "out")
        summary = grade_batch(plan, intake, results, BatchOptions(), slots=slots, on_gradebook=found.extend)
    assert summary.broken == {}
    return {
        report.author: {row.outcome.verdict.value for row in report.exercises[0].checks if not row.check.shown}
        for report in found
    }


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What lanes ran, in order."""
    ran: list[bytes] = []
    real = Lane.run

    def run(self: Lane, exercise: Exercise, files: Mapping[str, bytes], *args: Any, **more: Any) -> JobResult:
        ran.append(files["double.py"])
        return real(self, exercise, files, *args, **more)

    monkeypatch.setattr(Lane, "run", run)
    return ran


def breaks_once(real: Callable[..., JobResult]) -> Callable[..., JobResult]:
    """Runs, and is broken the first time for a right answer: an accident of ours."""
    met: set[bytes] = set()

    def run(self: Lane, exercise: Exercise, files: Mapping[str, bytes], *args: Any, **more: Any) -> JobResult:
        text = files["double.py"]
        if b"2 * x" not in text or text in met:
            return real(self, exercise, files, *args, **more)
        met.add(text)
        return JobResult([Outcome(check.id, Verdict.BROKEN, BROKEN_MESSAGE) for check in self.checks_of(exercise)], "")

    return run


def test_what_nests_too_deeply_is_its_authors_row(tmp_path: Path) -> None:
    """Answers on which Python's parser gives up are graded and compared with known mistakes; the batch goes on."""
    wrong = RIGHT.replace("2 * x", "3 * x")
    deep = "x = 0 if True else " + "(" * 5000 + "1" + ")" * 5000
    found = graded(tmp_path, {"a": RIGHT, "b": f"{deep}\n{wrong}", "c": f"# coding: hex\n{wrong}", "d": RIGHT}, 1)
    assert (found["a"], found["d"]) == ({"passed"}, {"passed"})
    assert "passed" not in found["b"] | found["c"]


def test_lost_over_large_replies(tmp_path: Path, runs: list[bytes]) -> None:
    """Whose replies cost the check process is over a limit, at once; the others get their points."""
    found = graded(tmp_path, {"a": RIGHT, "b": LARGE, "c": RIGHT}, 1, LOSES_LATER)
    assert found == {"a": {"passed"}, "b": {"over_limit"}, "c": {"passed"}}
    assert runs.count(LARGE.encode()) == 1


def test_who_loses_the_check_process_uses_up_no_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    """Three of them in a row, and what was broken by an accident for the one after them is graded again."""
    monkeypatch.setattr(Lane, "run", breaks_once(Lane.run))
    found = graded(tmp_path, dict.fromkeys("abc", LARGE) | {"d": RIGHT}, 1, LOSES)
    assert found == {name: {"over_limit"} for name in "abc"} | {"d": {"passed"}}
    assert runs.count(LARGE.encode()) == 3


def test_who_sleeps_does_not_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]) -> None:
    """What misses its deadline asleep is not run again while all other lanes rest."""
    monkeypatch.setattr(lanes, "_WAITED", 1.0)  # however busy the machine is
    works = {"a": SLEEPS, "b": RIGHT, "c": RIGHT}
    found = graded(tmp_path, works, 2, limits="{call_s: 100, exercise_s: 2}")
    assert found == {"a": {"timed_out"}, "b": {"passed"}, "c": {"passed"}}
    assert runs.count(SLEEPS.encode()) == 1
