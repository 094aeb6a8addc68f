"""What we are compared with: the same checks in a pytest session that imports student code itself. No isolation at all.

Reads a line with JSON, the checks to run of each exercise and a list of submission folders; grades them one after the
other; prints the seconds and how many checks passed; and so on.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

from grader.check.declare import Accelerator
from grader.connection.connection import Connection, Proxy, is_proxy, place_of, what_of
from grader.connection.raised import Raised
from grader.connection.starting import Starter
from grader.course.load import load_course
from grader.model import Device, Outcome, Verdict
from grader.model.endings import CannotJudge
from grader.model.messages import Collected, Done, Job, Part, PlannedExercise
from grader.session.connections import Connections
from grader.session.start import run_session
from grader.wire.decode import copies
from grader.worker import own_probes

ROOT = Path(__file__).resolve().parents[1]


class LocalConnection(Connection):
    """A connection without a worker: calls are calls."""

    def bind(self, path: Path) -> None:
        self._spaces: dict[str, Any] = {"": own_probes, "student": ModuleType(path.stem)}
        self._fault: Exception | None = None
        try:
            self._spaces["student"] = _imported(path)
        except Exception as error:
            self._fault = CannotJudge(str(error))

    def names(self) -> dict[str, str]:
        if self._fault:
            raise self._fault
        module = self._spaces["student"]
        return {name: "callable" if callable(value) else "value" for name, value in vars(module).items()}

    def load_probe(self, name: str, source: str) -> str:
        space = f"probe:{name}"
        if space not in self._spaces:
            self._spaces[space] = ModuleType(name)
            exec(compile(source, name, "exec"), vars(self._spaces[space]))
        return space

    def call(self, target: Proxy, args: tuple[Any, ...], kwargs: dict[str, Any], called: Proxy | None = None) -> Any:
        function, *values = (self._find(item) if is_proxy(item) else item for item in (target, *args))
        try:
            if self.student is not None:  # as whoever compares with a reference in one process must
                return function(*copies(*values), **kwargs)
            return function(*values, **kwargs)
        except Exception as error:
            name = type(error).__name__
            vars(error)["_raised"] = Raised(name, name, str(error), (), None, "", what_of(called or target), self.owner)
            raise

    def ask(self, operation: str, values: Sequence[Any], what: str, word: str = "") -> Any:
        assert operation == "get", operation
        return getattr(self._find(values[0]), values[1])

    def _find(self, proxy: Any) -> Any:
        _, space, name = place_of(proxy).child
        return getattr(self._spaces[space], name) if name else self._spaces[space]


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LocalConnections(Connections):
    """The same, in this process."""

    def __init__(self) -> None:
        super().__init__(cast(Starter, SimpleNamespace(students=set())))  # starts none
        self._bound: dict[str, LocalConnection] = {}

    def meet(self, planned: PlannedExercise, job: Job, device: Device) -> Connection:
        if device not in self._students:
            new = LocalConnection(self._starter, planned.id, job.files, planned.limits, device=device)
            new.bind(Path(job.files["path"].decode()) / f"{planned.id}.py")
            self._students[device] = new
        self.add_reference(planned, self._students[device])
        return self._students[device]

    def add_reference(self, planned: PlannedExercise, student: Connection) -> None:
        if planned.reference is None:
            return
        if planned.id not in self._bound:
            files = {f"{planned.id}.py": planned.reference.read_bytes()}
            new = LocalConnection(self._starter, planned.id, files, planned.limits, "the reference's", secret=True)
            new.bind(planned.reference)
            self._bound[planned.id] = new
        self._bound[planned.id].student = student
        student.reference = self._bound[planned.id]


class Host:
    """Work from standard input; seconds to standard output."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._jobs: list[Job] = []
        self._started: float | None = None
        self._passed = 0

    def next_job(self) -> Job | None:
        if not self._jobs:
            if self._started is not None:
                print(time.perf_counter() - self._started, self._passed, flush=True)
            line = sys.stdin.readline()
            if not line:
                return None
            self._started, self._passed = time.perf_counter(), 0
            only, paths = json.loads(line)
            self._jobs = [
                Job(
                    id,
                    {"path": path.encode(), f"{id}.py": Path(path, f"{id}.py").read_bytes()},
                    0,
                    "",
                    Part(frozenset(only[id]), again=True),
                )
                for path in paths
                for id in self._ids
            ]
        return self._jobs.pop(0)

    def tell(self, message: Collected | Outcome | Done) -> None:
        if isinstance(message, Collected):
            assert not message.problems
            print("ready", len(message.checks), flush=True)
        elif isinstance(message, Outcome):
            self._passed += message.verdict is Verdict.PASSED


def main() -> None:
    import torch

    torch.set_num_threads(1)
    ids = sys.argv[1:]
    planned = [PlannedExercise.of(item) for item in load_course(ROOT).exercises if item.id in ids]
    host: Any = Host(ids)
    run_session(host, planned, LocalConnections(), Accelerator(), Path(tempfile.gettempdir()))


if __name__ == "__main__":
    main()
