"""What we are compared with: the same checks in a pytest session that imports student code itself. No isolation at all.

Reads a line with JSON, the checks to run of each exercise and a list of submission folders; grades them one after the
other; prints the seconds and how many checks passed; and so on.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

from grader.course.load import load_course
from grader.endings import CannotJudge
from grader.jobs import Job, PlannedExercise
from grader.model import Check, Limits, Outcome, Verdict
from grader.remote.side import Side
from grader.session.plugin import CheckSession, run_session
from grader.worker import probes

ROOT = Path(__file__).resolve().parents[1]


class LocalParty(Side):
    """A party without a worker: calls are calls."""

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

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        del what
        found = [self._find(item) if hasattr(item, "wire_name") else item for item in (function, *args)]
        return found[0](*found[1:], **kwargs)

    def _find(self, remote: Any) -> Any:
        _, space, name = remote.wire_name
        return getattr(self._module if space == "student" else probes, name)


class LocalSession(CheckSession):
    """The same session, with local parties."""

    def _student_party(self, planned: PlannedExercise, job: Job, device: str) -> Side:
        party = LocalParty(super()._student_party(planned, job, device).sitting)
        party.bind(Path(job.files["path"].decode()) / f"{planned.id}.py")
        return party

    def _reference_party(self, planned: PlannedExercise, student: Side) -> Side | None:
        if planned.id not in self._bound and planned.reference is not None:
            party = LocalParty(student.sitting)
            party.bind(planned.reference)
            self._bound[planned.id] = party
        return self._bound.get(planned.id)

    @functools.cached_property
    def _bound(self) -> dict[str, LocalParty]:
        return {}


class Host:
    """Work from standard input; seconds to standard output."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._jobs: list[Job] = []
        self._started: float | None = None
        self._passed = 0

    def collected(self, checks: list[Check], problems: dict[str, str]) -> None:
        assert not problems
        print("ready", len(checks), flush=True)

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
                    frozenset(only[id]),
                )
                for path in paths
                for id in self._ids
            ]
        return self._jobs.pop(0)

    def outcome(self, outcome: Outcome) -> None:
        self._passed += outcome.verdict is Verdict.PASSED

    def done(self, output: str) -> None:
        pass


def main() -> None:
    import torch

    torch.set_num_threads(1)
    ids = sys.argv[1:]
    planned = [
        PlannedExercise(item.id, item.shown_checks, item.hidden_checks, item.probes, item.reference, {}, Limits())
        for item in load_course(ROOT).exercises
        if item.id in ids
    ]
    run_session(Host(ids), planned, starter=None, kind=LocalSession)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
