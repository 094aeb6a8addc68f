"""What the tests share: the pretend course, a warm lane for each way to start workers, short ways to grade a text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asking import Function, functions, open_starter

from grader.remote.worker import Starter
from grader.course.load import find_exercise, load_course
from ?grader.grading[] import grade_exercise
from grader.lanes.open import open_lane
from grader.lanes.lane import Lane
from grader.model import Course, GradedExercise
from grader.intake.folder import read_submission

COURSES = Path(__file__).parent / "courses"

Grade = Callable[..., GradedExercise]


@pytest.fixture(scope="session")
def tiny() -> Course:
    """The pretend course."""
    return load_course(COURSES / "tiny")


@pytest.fixture(scope="session")
def fork_lane(tiny: Course) -> Iterator[Lane]:
    """A lane whose workers are forked, for the whole run of tests."""
    with open_lane(tiny.exercises, "fork") as lane:
        yield lane


@pytest.fixture(scope="session")
def spawn_lane(tiny: Course) -> Iterator[Lane]:
    """A lane whose workers are fresh interpreters."""
    with open_lane(tiny.exercises, "spawn") as lane:
        yield lane


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Starts forked workers."""
    with open_starter("fork", tmp_path_factory.mktemp("forked")) as starter:
        yield starter


@pytest.fixture
def function(forks: Starter) -> Iterator[Function]:
    """Makes a function of the student's from a module's text."""
    with functions(forks) as make:
        yield make


@pytest.fixture
def spawned_function(tmp_path: Path) -> Iterator[Function]:
    """The same in fresh interpreters."""
    with open_starter("spawn", tmp_path) as starter, functions(starter) as make:
        yield make


@pytest.fixture
def grade_text(tiny: Course, fork_lane: Lane, tmp_path: Path) -> Grade:
    """Grades a text as the submission of an exercise of the pretend course."""
    return grader_of(tiny, fork_lane, tmp_path)


def grader_of(course: Course, lane: Lane, folder: Path) -> Grade:
    """A function that grades a text as somebody's submission."""

    def grade(text: str | bytes, exercise: str = "double", seed: int = 0) -> GradedExercise:
        chosen = find_exercise(course, exercise)
        path = folder / f"{chosen.id}.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return grade_exercise(chosen, read_submission(folder, [chosen], "somebody"), lane, seed)

    return grade


def verdicts(graded: GradedExercise) -> dict[str, str]:
    """The verdict of each check, by its id."""
    return {row.check.id: row.outcome.verdict.value for row in graded.checks}


def message(graded: GradedExercise, check: str) -> str:
    """The message of one check."""
    return next(row.outcome.message for row in graded.checks if row.check.id == check)


def run_grade(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "grader", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", timeout=240, check=False
    )
