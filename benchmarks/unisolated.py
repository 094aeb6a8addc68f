"""What we are compared with: the same checks in a plain `pytest -q` session that imports student code itself.

    CLASS=FOLDER python -m pytest -q -c grader/check_process/pytest.ini -p unisolated CHECK_FILE...

A plugin for a session that has nothing else of ours (PYTEST_DISABLE_PLUGIN_AUTOLOAD=1): pytest runs each check for
each folder in CLASS, and reports each failure with its traceback. The fixtures of a check are here; calls of the
student's functions are calls. Checks that measure speed need workers, and are left out. The last line says how many
seconds the session took after its collection.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import torch

from grader.check.declare import Accelerator, Rng
from grader.connection.connection import Connection, Proxy, is_proxy, owned_name_of, target_of
from grader.connection.raised import Raised
from grader.connection.record import Call, Record, recording_comparisons
from grader.connection.student import Probe, Student
from grader.course.load import load_course
from grader.model import Exercise, Limits
from grader.wire.call import copy_values
from grader.worker import builtin_probes
from grader.worker_process.starter import Starter

EXERCISES = {exercise.id: exercise for exercise in load_course(Path(__file__).resolve().parents[1]).exercises}
AUTHORS = sorted(Path(os.environ["CLASS"]).iterdir())
NO_STARTER = cast(Starter, SimpleNamespace(students=set()))  # starts none


class LocalConnection(Connection):
    """A connection without a worker: calls are calls."""

    def __init__(self, path: Path, owner: str = "your") -> None:
        without = EXERCISES[path.stem].without
        files = {f"{path.stem}.py": path.read_bytes()}
        super().__init__(NO_STARTER, path.stem, files, Limits(), owner, without=without)
        self._spaces: dict[str, Any] = {"": builtin_probes, "student": _imported(path)}

    def names(self) -> dict[str, str]:
        module = self._spaces["student"]
        return {name: "callable" if callable(value) else "value" for name, value in vars(module).items()}

    def load_probe(self, name: str, source: str) -> str:
        space = f"probe:{name}"
        if space not in self._spaces:
            self._spaces[space] = ModuleType(name)
            exec(compile(source, name, "exec"), vars(self._spaces[space]))
        return space

    def call(
        self,
        target: Proxy,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        called: Proxy | None = None,
        noted: Call | None = None,
    ) -> Any:
        del noted
        function, *values = (self._find(item) if is_proxy(item) else item for item in (target, *args))
        try:
            if self.student is not None:  # as whoever compares with a reference in one process must
                return function(*copy_values(*values), **kwargs)
            return function(*values, **kwargs)
        except Exception as error:
            name = type(error).__name__
            vars(error)["_raised"] = Raised(
                name, name, str(error), (), "", "", owned_name_of(called or target), self.owner
            )
            raise

    def ask(
        self,
        operation: str,
        values: Sequence[Any],
        what: str,
        word: str = "",
        *,
        noted: Call | None = None,
        sends_copies: bool = False,
    ) -> Any:
        del noted, sends_copies
        assert operation == "get", operation
        return getattr(self._find(values[0]), values[1])

    def _find(self, proxy: Any) -> Any:
        _, space, name = target_of(proxy).child
        return getattr(self._spaces[space], name) if name else self._spaces[space]


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- the plugin --------------------------------------------------------------------------------------------------------

torch.set_num_threads(1)  # as in a check process


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("author", AUTHORS, ids=lambda path: path.name, indirect=True, scope="module")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if _category(item) != "performance"]


def _category(item: pytest.Item) -> str:
    mark = item.get_closest_marker("graded")
    return "" if mark is None else mark.kwargs["category"]


def exercise_of(request: pytest.FixtureRequest) -> Exercise:
    """Return the exercise of a check file."""
    return EXERCISES[request.path.stem.removeprefix("check_")]


@pytest.fixture(scope="module")
def author(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@functools.cache
def module_of(path: Path, owner: str = "your") -> LocalConnection:
    """Return a connection to a module, which is imported once for all checks."""
    return LocalConnection(path, owner)


@pytest.fixture(scope="module")
def module(request: pytest.FixtureRequest, author: Path) -> LocalConnection:
    return module_of(author / exercise_of(request).file_name)


@pytest.fixture
def student(module: LocalConnection) -> Iterator[Student]:
    mine = Record()
    module.begin_check(mine, Limits())
    with recording_comparisons(mine):
        yield Student(module)


@pytest.fixture
def reference(request: pytest.FixtureRequest, module: LocalConnection) -> Student:
    path = exercise_of(request).reference
    assert path is not None
    connection = module_of(path, "the reference's")
    connection.student, module.reference = module, connection
    connection.begin_check(Record(), Limits())
    return Student(connection)


@pytest.fixture
def rng() -> Rng:
    rng = Rng()
    rng.manual_seed(0)
    return rng


@pytest.fixture
def accelerator() -> Accelerator:
    return Accelerator()


@pytest.fixture
def probe(request: pytest.FixtureRequest, module: LocalConnection, student: Student) -> Probe:
    path = next(path for path in exercise_of(request).probes if path.parent == request.path.parent)
    return Probe(module, path)


class Clock:
    """Seconds from the end of the collection to that of the session's report."""

    started = 0.0


def pytest_collection_finish() -> None:
    Clock.started = time.perf_counter()


def pytest_unconfigure() -> None:
    print(f"seconds {time.perf_counter() - Clock.started}")
