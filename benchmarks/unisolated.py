"""What we are compared with: the same checks in a pytest session that imports student code itself. No isolation at all.

Reads a line with a JSON list of submission folders, grades them one after the other, prints the seconds, and so on.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

from grader.check.session import CheckSession, Job, PlannedExercise, run_session
from grader.check.student import CannotJudge, Party
from grader.course import load_course
from grader.model import Check, Limits, Outcome
from grader.worker import probes

ROOT = Path(__file__).resolve().parents[1]


class LocalParty(Party):
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

    def _student_party(self, planned: PlannedExercise, job: Job) -> Party:
        party = LocalParty(super()._student_party(planned, job).sitting)
        party.bind(Path(job.files["path"].decode()) / f"{planned.id}.py")
        return party

    def _reference_party(self, planned: PlannedExercise, student: Party) -> Party | None:
        del student
        if planned.reference is None:
            return None
        party = LocalParty(super()._reference_party(planned, self._student).sitting)  # type: ignore[union-attr,arg-type]
        party.bind(planned.reference)
        return party


class Host:
    """Work from standard input; seconds to standard output."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._jobs: list[Job] = []
        self._started: float | None = None

    def collected(self, checks: list[Check], problems: dict[str, str]) -> None:
        assert not problems
        print("ready", len(checks), flush=True)

    def next_job(self) -> Job | None:
        if not self._jobs:
            if self._started is not None:
                print(time.perf_counter() - self._started, flush=True)
            line = sys.stdin.readline()
            if not line:
                return None
            self._started = time.perf_counter()
            self._jobs = [Job(id, {"path": path.encode()}, 0, None) for path in json.loads(line) for id in self._ids]
        return self._jobs.pop(0)

    def outcome(self, outcome: Outcome) -> None:
        pass

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
