"""Fixtures: the pretend course, and a warm lane for each way to start workers."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support import (
    COURSES,
    FORK,
    ROOT,
    SPAWN,
    Function,
    Grade,
    SharedServer,
    SharedZygote,
    Shelf,
    WarmGrade,
    functions,
    grader_of,
    open_lane,
    open_starter,
)

from grader.course.layout import closed_folders
from grader.course.load import load_course
from grader.grading.runtime import Processes, Runtime
from grader.model import Course
from grader.model.messages import Level, Start
from grader.runner.lane import Lane
from grader.runner.open_source import open_worker_source
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.runner.worker_source import WorkerSource
from grader.runner.zygote_client import Zygote
from grader.worker_process.starter import Starter


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores, as many tests wait for a deadline or a start of another process."""
    del config
    return (os.cpu_count() or 1) + 1


_STARTING = {"fork_lane", "spawn_lane", "type_grade", "forks", "function", "spawned_function", "grade_text"}
"""Fixtures that start processes of ours."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are not marked by their file: `lane` if a fixture or a child process starts one, else `unit`."""
    for item in items:
        if {mark.name for mark in item.iter_markers()} & {"lane", "sandbox", "network", "docs"}:
            continue
        starts = isinstance(item, pytest.Function) and (
            _STARTING & set(item.fixturenames) or getattr(item.obj, "accelerator_mode", None)
        )
        item.add_marker(pytest.mark.lane if starts else pytest.mark.unit)


# No process stays after a command, unless a test is about those that do.
os.environ.setdefault("TENSORGRADE_WARM", "0")

# A shell ignores the interrupt in what it starts in the background, and all that the tests start would do so, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

_LANES_OF_ONE = 16
"""Lanes that a runtime of the tests has at the most."""


@pytest.fixture(scope="session", autouse=True)
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runtimes of this process share a server for forked workers, and lanes stay for the next; see `own_server`.

    So torch is imported a few times in a process of tests.
    """
    numbers = itertools.count(step=_LANES_OF_ONE)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        shared = functools.cache(SharedZygote)
        stack.callback(lambda: shared().end() if shared.cache_info().currsize else None)
        plan = SandboxPlan(with_plain=True)
        start_server = functools.cache(lambda: stack.enter_context(closing(WorkerServer(plan, shared()))))

        def source(start: Start, plan: SandboxPlan, given: Zygote | None) -> WorkerSource:
            usual = start is Start.FORK and plan.most is Level.FULL
            # A thread of a test has processes of its own, which end with the test.
            if not usual or threading.current_thread() is not threading.main_thread():
                return open_worker_source(start, plan, given)
            return SharedServer(start_server(), next(numbers), plan.least)

        shelf = stack.enter_context(closing(Shelf([tmp_path_factory.getbasetemp(), COURSES, *closed_folders(ROOT)])))

        patch.setattr(Runtime, "processes", Processes(lambda **_: shared(), source, shelf.open))
        yield


@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runtimes of this test have processes of their own, as those of a command have: for tests of a start or an end."""
    monkeypatch.setattr(Runtime, "processes", Processes(Runtime.processes.zygote))


@pytest.fixture(scope="session")
def tiny() -> Course:
    """The pretend course."""
    return load_course(COURSES / "tiny")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the pretend course, which a test may spoil, at a path with a blank and an accent."""
    return Path(shutil.copytree(COURSES / "tiny", tmp_path / "mémoire vive", ignore=shutil.ignore_patterns(".grade")))


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


@pytest.fixture(scope="session")
def type_grade() -> WarmGrade:
    """Types commands where no process is to be started for each: what is about starts and ends uses `run_grade`."""
    return WarmGrade()


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
