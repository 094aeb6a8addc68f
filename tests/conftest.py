"""Fixtures: the pretend course, and a warm lane for each way to start workers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import COURSES, FORK, SPAWN, Function, Grade, WarmGrade, functions, grader_of, open_starter

from grader.connection.starting import Starter
from grader.course.load import load_course
from grader.model import Course
from grader.model.messages import Start
from grader.runner.lane import Lane
from grader.runner.pool import open_lane


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores, as many tests wait for a deadline or a start of another process."""
    del config
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def tiny() -> Course:
    """The pretend course."""
    return load_course(COURSES / "tiny")


@pytest.fixture(scope="session")
def fork_lane(tiny: Course) -> Iterator[Lane]:
    """A lane whose workers are forked, for the whole run of tests."""
    with open_lane(tiny.exercises, FORK) as lane:
        yield lane


@pytest.fixture(scope="session")
def spawn_lane(tiny: Course) -> Iterator[Lane]:
    """A lane whose workers are fresh interpreters."""
    with open_lane(tiny.exercises, SPAWN) as lane:
        yield lane


@pytest.fixture
def type_grade(fork_lane: Lane) -> WarmGrade:
    """Types commands where no process is to be started for each: what is about starts and ends uses `run_grade`."""
    return WarmGrade({Start.FORK: fork_lane})


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Starts forked workers."""
    with open_starter(Start.FORK, tmp_path_factory.mktemp("forked")) as starter:
        yield starter


@pytest.fixture
def function(forks: Starter) -> Iterator[Function]:
    """Makes a function of the student's from a module's text."""
    with functions(forks) as make:
        yield make


@pytest.fixture
def spawned_function(tmp_path: Path) -> Iterator[Function]:
    """The same in fresh interpreters."""
    with open_starter(Start.SPAWN, tmp_path) as starter, functions(starter) as make:
        yield make


@pytest.fixture
def grade_text(tiny: Course, fork_lane: Lane, tmp_path: Path) -> Grade:
    """Grades a text as the submission of an exercise of the pretend course."""
    return grader_of(tiny, fork_lane, tmp_path)
