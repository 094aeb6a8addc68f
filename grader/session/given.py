"""What checks are given: the fixtures of their sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from grader.check.devices import Accelerator
from grader.check.generate import Rng
from grader.jobs import PlannedExercise
from grader.remote.folder import Folder
from grader.remote.probe import Probe
from grader.remote.side import Side
from grader.remote.student import Student
from grader.session.inputs import InputStream
from grader.session.listener import Listener
from grader.session.pickles import refuse_pickles
from grader.wire.bounds import Unsupported


class Given(NamedTuple):
    """What the check that runs just now is about."""

    exercise: PlannedExercise
    student: Side
    reference: Side | None
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
        self._folder: Folder | None = None
        refuse_pickles(lambda: self._folder is not None and self._folder.has_students)

    @pytest.fixture
    def student(self) -> Student:
        """The student's module."""
        return Student(self._current().student)

    @pytest.fixture
    def reference(self) -> Student:
        """The reference, in a worker of its own; it is given arguments as they were before the student's call."""
        side = self._current().reference
        if side is None:
            pytest.skip("this copy of the course has no reference solution")
        return Student(side)

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
        """An empty folder: a path into it means the same file to the check, the student's code and the reference."""
        now = self._current()
        with TemporaryDirectory(prefix="check-", dir=self._root) as path:
            self._folder = Folder(Path(path).resolve(), now.student)
            now.student.folder = self._folder
            if now.reference is not None:
                now.reference.folder = self._folder
            yield self._folder.path
        self._folder = None

    @pytest.fixture
    def capsys(self) -> Iterator[Listener]:
        """What student code prints, as pytest's fixture has it."""
        with Listener() as listener:
            yield listener

    @pytest.fixture
    def monkeypatch(self) -> None:
        """Nothing: it could change this process alone."""
        raise Unsupported(
            "`monkeypatch` changes the check's process, and student code runs in another: what is to be changed there "
            "a function of the probe file changes; what must not be called is told by does_not_call and uses_only"
        )

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> Probe:
        """The exercise's probe file that lies beside the check, or the shown one."""
        exercise, student, _, _ = self._current()
        # A hidden check may use what a student sees as well; never the other way round.
        shown = exercise.shown_checks
        for folder in (request.path.parent, shown.parent if shown else None):
            for path in exercise.probes:
                if path.parent == folder:
                    return Probe(student, path)
        raise LookupError(f"there is no probe_{exercise.id}.py beside {request.path.name}")
