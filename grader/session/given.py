"""What checks are given: the fixtures of their sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from grader.check.declare import Accelerator, Rng
from grader.connection.connection import Connection
from grader.connection.probe import Probe
from grader.connection.student import Student
from grader.model.messages import PlannedExercise
from grader.session.inputs import InputStream


class Given(NamedTuple):
    """What the check that runs just now is about."""

    exercise: PlannedExercise
    student: Connection
    inputs: InputStream


class Fixtures:
    """A pytest plugin with the fixtures of checks.

    Args:
        current: tells of the check that runs just now.
        accelerator: what checks of devices run on.
        root: a private folder, for the folders of checks.
    """

    def __init__(self, current: Callable[[], Given], accelerator: Accelerator, root: Path) -> None:
        self._current = current
        self._accelerator = accelerator
        self._root = root

    @pytest.fixture
    def student(self) -> Student:
        """The student's module."""
        return Student(self._current().student)

    @pytest.fixture
    def reference(self) -> Student:
        """The reference, in a worker of its own; it is given arguments as they were before the student's call."""
        reference = self._current().student.reference
        if reference is None:
            pytest.skip("this copy of the course has no reference solution")
        return Student(reference)

    @pytest.fixture
    def rng(self) -> Rng:
        """A generator of this check's inputs, which only the run, the author and the check's id decide."""
        return self._current().inputs.rng

    @pytest.fixture
    def accelerator(self) -> Accelerator:
        """The accelerator that the worker of a check with `device="sim"` sees."""
        return self._accelerator

    @pytest.fixture
    def files(self) -> Path:
        """The folder of the exercise's files of data, which the student's code finds beside its own."""
        exercise = self._current().exercise
        for name, path in exercise.data.items():
            return path.parents[name.count("/")]
        raise LookupError(f"{exercise.id} has no files of data: name them in its YAML file, under the key  files")

    @pytest.fixture
    def tmp_path(self) -> Iterator[Path]:
        """An empty folder of the check's own; student code cannot see it."""
        with TemporaryDirectory(prefix="check-", dir=self._root) as path:
            yield Path(path)

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> Probe:
        """The exercise's probe file that lies beside the check, or the shown one."""
        exercise, student, _ = self._current()
        # A hidden check may use what a student sees as well; never the other way round.
        shown = exercise.shown_checks
        for folder in (request.path.parent, shown.parent if shown else None):
            for path in exercise.probes:
                if path.parent == folder:
                    return Probe(student, path)
        raise LookupError(f"there is no probe_{exercise.id}.py beside {request.path.name}")
