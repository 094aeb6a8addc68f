"""The fixtures that a check can have: the student's module, the reference, a generator of inputs, probes, folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from grader.check.declare import Accelerator, Rng
from grader.check_process.checks import InputStream
from grader.check_process.features import Subtests
from grader.connection.connection import Connection
from grader.connection.student import Probe, Student
from grader.model.course import PlannedExercise


class Fixtures:
    """The pytest plugin that gives checks their fixtures.

    Args:
        root: the folder in which checks get empty folders of their own.
        accelerator: the accelerator on which checks of devices run.

    Attributes:
        connection: the connection to the student's code for the check that runs now.
        exercise: the exercise of that check.
        inputs: the stream that its inputs are drawn from.
    """

    connection: Connection
    exercise: PlannedExercise
    inputs: InputStream

    def __init__(self, root: Path, accelerator: Accelerator) -> None:
        self._root = root
        self._accelerator = accelerator

    @pytest.fixture
    def student(self) -> Student:
        """Return the student's module, whose functions run in a worker."""
        return Student(self.connection)

    @pytest.fixture
    def reference(self) -> Student:
        """Return the reference's module.

        Its functions get arguments as they were before the student's call.
        """
        reference = self.connection.reference
        if reference is None:
            pytest.skip("this copy of the course has no reference solution")
        return Student(reference)

    @pytest.fixture
    def rng(self) -> Rng:
        """Return the generator of the check's random inputs.

        The run, the author and the check's id decide what it draws.
        """
        return self.inputs.rng

    @pytest.fixture
    def accelerator(self) -> Accelerator:
        """Return the accelerator that the worker of a check with `device="sim"` or "sim-cuda" sees."""
        return replace(self._accelerator, type=self.connection.device)

    @pytest.fixture
    def files(self) -> Path:
        """Return the folder of the exercise's data files.

        Student code has the same files beside its own.
        """
        for name, path in self.exercise.data.items():
            return path.parents[name.count("/")]
        raise LookupError(f"{self.exercise.id} has no files of data: name them in its YAML file, under the key  files")

    @pytest.fixture
    def subtests(self) -> Subtests:
        """Return the fixture `subtests` as pytest 9 has it, with one difference.

        The check ends at the first part that fails.
        """
        return Subtests()

    @pytest.fixture
    def tmp_path(self) -> Iterator[Path]:
        """Yield an empty folder of the check's own, which student code cannot see."""
        with TemporaryDirectory(prefix="check-", dir=self._root) as path:
            yield Path(path)

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> Probe:
        """Return the exercise's probe file that lies beside this check file.

        If no probe lies there, return the one beside the shown checks.
        """
        # A hidden check may use what a student sees as well; never the other way round.
        shown = self.exercise.shown_checks
        for folder in (request.path.parent, shown.parent if shown else None):
            for path in self.exercise.probes:
                if path.parent == folder:
                    return Probe(self.connection, path)
        raise LookupError(f"there is no probe_{self.exercise.id}.py beside {request.path.name}")
