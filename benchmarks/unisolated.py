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
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from grader.check import counts
from grader.check.devices import Accelerator
from grader.course.load import load_course
from grader.jobs import Collected, Done, Job, Part, PlannedExercise
from grader.model import Device, Outcome, Verdict
from grader.model.endings import CannotJudge
from grader.remote.handle import Handle
from grader.remote.probe import built_in
from grader.remote.raised import Raised
from grader.remote.side import Side
from grader.remote.witness import Witnessed
from grader.remote.worker import Starter
from grader.session.run import run_session
from grader.session.sides import Sides
from grader.wire.handles import is_remote, origin_of
from grader.worker import own_probes

ROOT = Path(__file__).resolve().parents[1]


class LocalSide(Side):
    """A side without a worker: calls are calls."""

    def bind(self, path: Path) -> None:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        self._module = importlib.util.module_from_spec(spec)
        self._fault: Exception | None = None
        try:
            spec.loader.exec_module(self._module)
        except Exception as error:
            self._fault = CannotJudge(str(error))

    def names(self) -> dict[str, str]:
        if self._fault:
            raise self._fault
        return {name: "callable" if callable(value) else "value" for name, value in vars(self._module).items()}

    def goes_ahead(self) -> bool:
        """There is no way there and back."""
        return False

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        found = [self._find(item) if is_remote(item) else item for item in (function, *args)]
        try:
            return found[0](*found[1:], **kwargs)
        except Exception as error:
            name = type(error).__name__
            vars(error)["_raised"] = Raised(name, str(error), (), what, self.sitting.owner, name)
            raise

    def _find(self, remote: Any) -> Any:
        named = origin_of(remote).name
        assert named is not None
        _, space, name = named
        return getattr(self._module if space == "student" else own_probes, str(name))


def unwitnessed(
    function: Handle, name: str, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Witnessed:
    """A counted call that nobody watches from outside: there is no outside."""
    return Witnessed(built_in(function, name, values, args, kwargs), None)


class LocalSides(Sides):
    """The same, in this process."""

    def __init__(self) -> None:
        super().__init__(cast(Starter, SimpleNamespace()))  # starts none, and is told how to make room for one
        self._bound: dict[str, LocalSide] = {}

    def _side_of_student(self, planned: PlannedExercise, job: Job, device: Device) -> Side:
        side = LocalSide(super()._side_of_student(planned, job, device).sitting)
        side.bind(Path(job.files["path"].decode()) / f"{planned.id}.py")
        return side

    def reference(self, planned: PlannedExercise, student: Side) -> Side | None:
        if planned.id not in self._bound and planned.reference is not None:
            side = self._bound[planned.id] = LocalSide(student.sitting)
            side.bind(planned.reference)
        return self._bound.get(planned.id)


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
                    None,
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
    vars(counts)["witnessed"] = unwitnessed
    ids = sys.argv[1:]
    planned = [PlannedExercise.of(item) for item in load_course(ROOT).exercises if item.id in ids]
    run_session(Host(ids), planned, LocalSides(), Accelerator(), Path(tempfile.gettempdir()))


if __name__ == "__main__":
    main()
