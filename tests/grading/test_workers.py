"""How many workers an answer takes: nothing runs twice without a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from check_process.courses import course_with, without_solutions
from support import FORK, RIGHT, InLane, open_lane

from grader.grading.diagnosis import KnownMistakes
from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.model import Course, Exercise, GradedExercise, Submission
from grader.model.report import ExerciseFiles
from grader.runner.lane import JobResult, Lane

pytestmark = pytest.mark.lane

CHECKS = '''
import torch

from grader.check import check, assert_close


@check("C1")
def check_drawn(student, rng):
    """Draws its input"""
    x = rng.whole(2, 9, 3)
    assert_close(student.double(x), 2 * x)


@check("C1")
def check_again(student):
    """Calls it once more"""
    assert_close(student.double(torch.zeros(1)), torch.zeros(1))


@check("C1", share=4)
def check_plain(student):
    """Has one input for all"""
    assert_close(student.double(torch.ones(2)), torch.full((2,), 2.0))
'''
WRONG = RIGHT.replace("2 * x", "5 * x")
WRONG_WHERE_PLAIN = RIGHT.replace("return 2 * x", "return 5 * x if len(x) == 2 else 2 * x")
CRASHING = f"import os\n{RIGHT.replace('return 2', 'os._exit(3); return 2')}"
MISTAKE = '"""You take five times.\n\ncaught by: plain\n"""\n\n'

Grade = Callable[..., tuple[GradedExercise, int, int]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Exercise, Lane]]:
    """The exercise, whose checks are hidden, and a lane for it."""
    course = course_with(tmp_path_factory.mktemp("workers"), "", CHECKS)
    with open_lane(course.exercises, FORK) as lane:
        yield course.exercises[0], lane


@pytest.fixture
def grade(opened: tuple[Exercise, Lane], monkeypatch: pytest.MonkeyPatch) -> Grade:
    """Grades as a batch does; gives the workers of the answer, too, and those of the known wrong answers."""
    exercise, lane = opened
    run, started = lane.run, Counter[bytes]()

    def counted(exercise: Exercise, files: dict[str, bytes], *rest: Any, **more: Any) -> JobResult:
        ran = run(exercise, files, *rest, **more)
        started[files[exercise.file_name]] += ran.workers
        return ran

    monkeypatch.setattr(lane, "run", counted)
    setup = replace(FORK, seed=7)

    def grade(text: str, *mistakes: Path) -> tuple[GradedExercise, int, int]:
        one = replace(exercise, wrong=mistakes)
        files = ExerciseFiles({one.file_name: text.encode()}, Path("nowhere.py"))
        plan = RunPlan(Course("", Path(), (), ()), [one], setup)
        report = grade_submission(plan, Submission("somebody", {one.id: files}), InLane(lane, KnownMistakes(setup)))
        own = started.pop(text.encode())
        return report.exercises[0], own, started.total()

    return grade


@pytest.mark.parametrize(("text", "count"), [(RIGHT, 1), (WRONG, 1), (CRASHING, 2)], ids=["right", "wrong", "crashing"])
def test_without_known_mistakes_nothing_runs_again(grade: Grade, text: str, count: int) -> None:
    """A worker serves all checks; only where one was lost is there another, for the next check."""
    assert grade(text)[1:] == (count, 0)


def test_what_no_check_drew_is_not_run_again_for_a_diagnosis(grade: Grade, tmp_path: Path) -> None:
    """The graded run is compared with the known mistake; where a check drew numbers, it runs with others as well.

    One worker more is for the calls with all inputs of all checks.
    """
    for text, count in ((WRONG_WHERE_PLAIN, 1 + 1), (WRONG, 3 + 1)):
        (path := tmp_path / f"{count}.py").write_text(MISTAKE + text)
        graded, own, others = grade(text, path)
        assert [mistake.sentence for mistake in graded.mistakes] == ["You take five times."]
        assert (own, others > 0) == (count, True)


def test_lines_to_try_take_one_worker_more(tmp_path: Path) -> None:
    """In a students' copy that of a repeat of the check, too; what a reference prints is kept."""
    for copy, counts in (("students", [2, 2]), ("staff", [3, 2])):
        (folder := tmp_path / copy).mkdir()
        course = course_with(folder, PLAIN, "")
        course = without_solutions(course) if copy == "students" else course
        with open_lane(course.exercises, FORK) as lane:
            started = []
            for text in (WRONG, WRONG + "\n"):
                run = lane.run(course.exercises[0], {"double.py": text.encode()}, 0)
                assert "To see it" in run.outcomes[0].message
                started.append(run.workers)
        assert started == counts


PLAIN = CHECKS[: CHECKS.index("@check")] + CHECKS[CHECKS.index('@check("C1", share') :]
