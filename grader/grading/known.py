"""How known wrong answers behave: found out when it is first asked for, check by check, and kept on disk.

A wrong answer runs like any submission, confined, in the same lane. Its inputs come of seeds of our own, so that one
run serves for all students. Of what comes out digests are kept, which tell nothing of inputs and expected values.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from grader.course.answers import Answer, as_submitted
from grader.grading.keys import digest_of, judge_of, machine_of
from grader.grading.traces import COSTS, Trace, Traces
from grader.model import Exercise, Verdict
from grader.model.files import write_whole
from grader.model.messages import Part, Setup
from grader.runner.lane import Lane

_VERSION = 2
_KEPT = (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED)
"""What the next run will find as well; the machine may have made the others."""

_MOST = 4000
"""So many rows are kept, the latest: those of answers and checks that were changed since are never asked for again."""

_Found = dict[str, dict[str, Trace]]
"""By a digest of all that it hangs on, the traces of the checks that were run."""


class Known:
    """How wrong answers behave. Read it, ask it, write it. Lanes that work at once may share it.

    Args:
        setup: of the run.
        path: where it is kept; None for nowhere. A file that is damaged, or of another course, counts as none.
    """

    def __init__(self, setup: Setup, path: Path | None = None) -> None:
        self._path = path
        self._found = _read(path)
        self._machine = machine_of(setup)
        self._judges: dict[str, str] = {}
        self._new = False
        self._lock = threading.Lock()

    def traces(self, lane: Lane, answer: Answer, exercise: Exercise, seed: int, checks: Collection[str]) -> Traces:
        """The traces of a wrong answer; what is not known yet is found out.

        Args:
            lane: has the exercise's checks.
            answer: the wrong answer.
            exercise: whose it is.
            seed: of the inputs.
            checks: the ids of the checks that are asked for.
        """
        costs = {check.id for check in lane.checks_of(exercise) if check.category == COSTS}
        found: dict[str, Trace] = {}
        # Costs hardly hang on the inputs: they are found out with one seed, for all.
        for wanted, inputs in ((set(checks) - costs, seed), (costs.intersection(checks), 0)):
            with self._lock:
                mine = self._found.setdefault(self._key(exercise, answer, inputs), {})
            # Two lanes may find out the same: what they find is equal, and neither need wait.
            if missing := wanted.difference(mine):
                new = traces_in(lane, exercise, as_submitted(exercise, answer.source), inputs, missing)
                with self._lock:
                    mine.update(new)
                    self._new = True
            found |= {id: mine[id] for id in wanted}
        return found

    def _key(self, exercise: Exercise, answer: Answer, seed: int) -> str:
        """A digest of all that the traces hang on: what judges the answer, the answer, the seed."""
        if exercise.id not in self._judges:
            self._judges[exercise.id] = judge_of(exercise)
        told = (self._judges[exercise.id], self._machine, str(seed))
        return digest_of(answer.source, *(part.encode() for part in told))

    def write(self) -> None:
        """Keep what was found out, if anything was.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            if self._path is None or not self._new:
                return
            rows = {
                key: {id: [trace.verdict.value, trace.story, trace.has_value] for id, trace in traces.items()
                      if trace.verdict in _KEPT}
                for key, traces in list(self._found.items())[-_MOST:]
            }  # fmt: skip
            write_whole(self._path, json.dumps({"version": _VERSION, "traces": rows}) + "\n")
            self._new = False


def _read(path: Path | None) -> _Found:
    if path is None:
        return {}
    try:
        return _from_plain(json.loads(path.read_text(encoding="utf-8")))
    # It can all be found out again, so that nobody need be told.
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _from_plain(data: Any) -> _Found:
    if data["version"] != _VERSION:
        return {}
    return {
        str(key): {str(id): Trace(Verdict(verdict), str(story), bool(has_value)) for id, (verdict, story, has_value)
                   in traces.items()}
        for key, traces in data["traces"].items()
    }  # fmt: skip


def traces_in(
    lane: Lane, exercise: Exercise, files: Mapping[str, bytes], seed: int, checks: Collection[str]
) -> dict[str, Trace]:
    """How these checks end for a submission: in a grading run, of a wrong answer, and for a released copy."""
    if not checks:
        return {}
    categories = {check.id: check.category for check in lane.checks_of(exercise)}
    # What is too slow decides at once: it costs nobody a point.
    run = lane.run(exercise, files, seed, part=Part(frozenset(checks), again=True, told=False))
    return {outcome.check: Trace.of(outcome, categories[outcome.check]) for outcome in run.outcomes}
