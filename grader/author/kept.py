"""What the runs of earlier commands showed, of files of which nothing has changed since: told again, with nothing run.

A run hangs on its file and its seed, on all that judges it, and on the machine with all that is installed there, down
to each file of the grader. What might be otherwise the next time is not kept: a right answer that did not pass, a run
that took too long or too much, a check at fault.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.author.cases import Case
from grader.course.kept import kept_runs
from grader.grading.graded import from_told, to_told
from grader.grading.keys import digest_of, machine_of, package_digest
from grader.model import Check, Course, Exercise, GradedExercise, Verdict
from grader.model.files import write_whole
from grader.model.messages import Setup
from grader.model.score import counted
from grader.sandbox.records import from_plain

_VERSION = 1
_PASSES = {Verdict.PASSED, Verdict.NOT_RUN}
_SETTLED = {*_PASSES, Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED}


@dataclass(frozen=True)
class _Rows:
    """What is kept of one exercise: its checks, and by run what it showed."""

    key: str
    checks: list[dict[str, Any]]
    runs: dict[str, dict[str, Any]]


_NOTHING = _Rows("", [], {})


class Kept:
    """What is kept of a course's exercises, for one number of seeds; with another number all is run.

    Args:
        course: whose exercises these are.
        setup: how they are run.
        seeds: how many seeds a right answer must pass with.

    Attributes:
        taken: how many runs are told from earlier.
    """

    def __init__(self, course: Course, setup: Setup, seeds: int) -> None:
        self.taken = 0
        self._course = course
        self._seeds = seeds
        self._machine = _machine(setup)
        self._rows: dict[str, _Rows] = {}

    def count(self, exercises: Sequence[Exercise]) -> int:
        """About how many runs of exercises are kept, if nothing has changed."""
        return sum(len(self._read(exercise).runs) for exercise in exercises)

    def checks(self, exercise: Exercise, judge: str) -> list[Check]:
        """The checks of an exercise; none if they are not known."""
        return [from_plain(Check, row) for row in self._of(exercise, judge).checks]

    def graded(self, case: Case, judge: str) -> GradedExercise | None:
        """What a case showed, if that is known."""
        rows = self._of(case.exercise, judge)
        told = rows.runs.get(_name(case))
        if told is None:
            return None
        self.taken += 1
        return from_told(case.exercise, {**told, "checks": rows.checks})

    def write(self, exercise: Exercise, judge: str, found: Sequence[tuple[Case, GradedExercise]]) -> None:
        """Keep what all runs of an exercise showed, in the place of what was kept of it."""
        rows = _Rows(self._key(exercise, judge), [], {})
        for case, graded in found:
            if _will_hold(case, graded):
                told = to_told(graded)
                rows.checks[:] = told.pop("checks")
                rows.runs[_name(case)] = told
        self._rows[exercise.id] = rows
        path = kept_runs(self._course, exercise.id, self._seeds)
        with suppress(OSError):  # it can all be found out again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({"key": rows.key, "checks": rows.checks, "runs": rows.runs}) + "\n")

    def lines(self) -> list[str]:
        """How many runs are told from earlier, and why."""
        if not self.taken:
            return []
        since = "has not changed since it was" if self.taken == 1 else "have not changed since they were"
        which = counted(self.taken, "submission")
        return [f"{which} {since} last run: what is told is from then (--fresh runs all)"]

    def _of(self, exercise: Exercise, judge: str) -> _Rows:
        rows = self._read(exercise)
        return rows if rows.key == self._key(exercise, judge) else _NOTHING

    def _key(self, exercise: Exercise, judge: str) -> str:
        told = (_VERSION, self._machine, self._seeds, exercise.id, judge)
        return digest_of(repr(told).encode())

    def _read(self, exercise: Exercise) -> _Rows:
        if exercise.id not in self._rows:
            self._rows[exercise.id] = _read(kept_runs(self._course, exercise.id, self._seeds))
        return self._rows[exercise.id]


def _read(path: Path) -> _Rows:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return _Rows(str(data["key"]), list(data["checks"]), dict(data["runs"]))
    # It can all be found out again, so that nobody need be told.
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return _NOTHING


def _name(case: Case) -> str:
    """A run's name among those of its exercise."""
    return digest_of(case.kind.encode(), case.answer.source, str(case.seed).encode(), str(case.busy).encode())


def _will_hold(case: Case, graded: GradedExercise) -> bool:
    """Whether the next run would show the same."""
    verdicts = {row.outcome.verdict for row in graded.checks}
    return bool(verdicts) and verdicts <= (_PASSES if case.kind in ("reference", "right") else _SETTLED)


def _machine(setup: Setup) -> str:
    """A digest of the machine, of what is installed, and of the grader as its files are."""
    levels = (setup.least.word, setup.most.word)
    here = (platform.platform(), platform.node(), os.cpu_count(), setup.start.value, setup.accelerator.value, levels)
    return digest_of(machine_of(setup).encode(), repr(here).encode(), _installed().encode(), package_digest().encode())


def _installed() -> str:
    """The names and versions of all packages: their folders have both in their names."""
    found = []
    for place in sys.path:
        with suppress(OSError):
            found += [name for name in os.listdir(place or os.curdir) if name.endswith((".dist-info", ".egg-info"))]
    return repr(sorted(found))
