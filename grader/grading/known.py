"""How known wrong answers behave: found when it is first needed, check by check, and saved in the store.

A wrong answer runs like any submission, confined, in the same lane. Its inputs come from seeds of our own, so that one
run serves for all students. What is saved are digests, from which nobody learns inputs and expected values.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from grader.course.answers import Answer, as_submitted
from grader.grading.keys import digest_of, judge_of, machine_of
from grader.grading.store import Store
from grader.grading.traces import COSTS, Trace, Traces
from grader.model import Exercise, Verdict
from grader.model.messages import Part, Setup
from grader.runner.lane import Lane

_HOLDS = (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED)
"""The next run would find the same; the others may be due to the machine."""


class Known:
    """How wrong answers behave. Lanes that work at once may share it.

    Args:
        setup: of the run.
        store: where it is saved; None for nowhere.
    """

    def __init__(self, setup: Setup, store: Store | None = None) -> None:
        self._store = store
        self._found: dict[str, dict[str, Trace]] = {}
        self._machine = machine_of(setup)
        self._judges: dict[str, str] = {}
        self._lock = threading.Lock()

    def traces(self, lane: Lane, answer: Answer, exercise: Exercise, seed: int, checks: Collection[str]) -> Traces:
        """The traces of a wrong answer; those that are not known yet are found now.

        Args:
            lane: has the exercise's checks.
            answer: the wrong answer.
            exercise: the exercise that it is an answer to.
            seed: of the inputs.
            checks: the ids of the checks whose traces are needed.
        """
        costs = {check.id for check in lane.checks_of(exercise) if check.category == COSTS}
        found: dict[str, Trace] = {}
        # Costs hardly depend on the inputs: they are found with one seed, for all.
        for wanted, inputs in ((set(checks) - costs, seed), (costs.intersection(checks), 0)):
            key = self._key(exercise, answer, inputs)
            mine = self._read(key)
            # Two lanes may find the same at once: what they find is equal, and neither need wait.
            if missing := wanted.difference(mine):
                new = traces_in(lane, exercise, as_submitted(exercise, answer.source), inputs, missing)
                with self._lock:
                    mine.update(new)
                if self._store is not None:
                    self._store.save_traces(key, {id: row for id, row in new.items() if row.verdict in _HOLDS})
            found |= {id: mine[id] for id in wanted}
        return found

    def _read(self, key: str) -> dict[str, Trace]:
        with self._lock:
            if key not in self._found:
                self._found[key] = self._store.traces(key) if self._store is not None else {}
            return self._found[key]

    def _key(self, exercise: Exercise, answer: Answer, seed: int) -> str:
        """A digest of all that the traces depend on: what judges the answer, the answer, the seed."""
        if exercise.id not in self._judges:
            self._judges[exercise.id] = judge_of(exercise)
        facts = (self._judges[exercise.id], self._machine, str(seed))
        return digest_of(answer.source, *(part.encode() for part in facts))


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
