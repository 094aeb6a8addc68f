"""Runs the files of an exercise as any submission is graded. What an earlier command ran is not run again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from grader.author.cases import Case
from grader.grading.keys import Keys, judge_of
from grader.grading.lanes import Lanes
from grader.grading.plan import RunPlan
from grader.grading.schedule import schedule
from grader.grading.store import Store
from grader.grading.work import Work
from grader.model import Course, Exercise, GradedExercise
from grader.model.messages import Collected, Setup
from grader.model.score import counted
from grader.runner.pool import cores

_Name = tuple[str, str, bytes, int, bool]


class Runs:
    """Runs cases. A starter is run, too.

    Args:
        course: whose exercises these are.
        setup: how they are run.
        store: has what earlier commands ran, and gets what is run now.
        told: whether somebody reads what students read.
        fresh: whether everything is run once, whatever earlier commands ran.
        ran: receives how many submissions ran, and how many are to run.

    Attributes:
        saved: how many results are of earlier commands.
    """

    def __init__(
        self,
        course: Course,
        setup: Setup,
        store: Store,
        *,
        told: bool = False,
        fresh: bool = False,
        ran: Callable[[int, int], None] = lambda count, of: None,
    ) -> None:
        self.course = course
        self.saved = 0
        self._setup = setup
        self._store = store
        self._told = told
        self._fresh = fresh
        self._ran = ran
        self._known: dict[_Name, GradedExercise] = {}

    def read_again(self, exercises: Sequence[Exercise], lanes: Lanes) -> None:
        """Files of exercises may have changed since they were read."""
        self._store.keys = Keys()
        self._known = {name: graded for name, graded in self._known.items() if name[0] not in _ids(exercises)}
        lanes.files_changed(exercises)

    def settle(self, exercises: Sequence[Exercise]) -> None:
        """Forget what ran while its checks were changed: it is unknown which of the two ran."""
        for exercise in exercises:
            if (judge := self._store.keys.judge(exercise)) != judge_of(exercise):
                self._store.forget(exercise.id, judge)

    def count_saved(self, exercises: Sequence[Exercise]) -> int:
        """How many results of exercises earlier commands have left, as long as nothing has changed."""
        return (
            0
            if self._fresh
            else sum(self._store.saved_count(item.id, self._store.keys.judge(item)) for item in exercises)
        )

    def new(self, cases: Sequence[Case]) -> int:
        """How many of the cases have no result yet."""
        return sum(self._found(case) is None for case in cases)

    def collected(self, lanes: Lanes, references: Sequence[Case]) -> Collected:
        """The checks of exercises: from saved results of their references, if all have one, or as a lane reads them."""
        known = [self._found(case) for case in references]
        if references and all(known):
            return Collected(tuple(row.check for graded in known if graded for row in graded.checks), {}, 1)
        return lanes.collected()

    def run_all(
        self,
        lanes: Lanes,
        cases: Sequence[Case],
        stops: Callable[[], bool] = lambda: False,
        *,
        while_busy: bool = False,
    ) -> list[tuple[Case, GradedExercise]]:
        """The result of each case, on all lanes at once; of those that began before it had to stop.

        Args:
            lanes: that have the exercises.
            cases: what to run.
            stops: asked before each whether anybody still waits for the results.
            while_busy: whether all cores are kept busy meanwhile.
        """
        new = {self._work(case): case for case in cases if self._found(case) is None}
        first: set[Work] = set()

        def works() -> Iterator[Work]:
            for work in new:
                if stops():
                    return
                yield work

        with ExitStack() as spinning:
            spinning.enter_context(_busy_cores(len(cores()) if while_busy and new else 0))
            for finished in schedule(works(), lanes, self._store, again=lambda work, graded: True):
                first.add(finished.work)
                self._ran(len(first), len(new))
                # What is inconclusive is repeated on a quiet machine, as for any submission.
                if len(first) == len(new):
                    spinning.close()
                if finished.final:
                    self._known[_name(new[finished.work])] = finished.graded
                elif stops():
                    break
        found = [(case, self._known.get(_name(case))) for case in cases]
        return [(case, graded) for case, graded in found if graded is not None]

    def saved_lines(self) -> list[str]:
        """How many results are of earlier commands, and why."""
        if not self.saved:
            return []
        since = "has not changed since it was" if self.saved == 1 else "have not changed since they were"
        return [f"{counted(self.saved, 'submission')} {since} last run, so its result is used again (--fresh runs all)"]

    def _found(self, case: Case) -> GradedExercise | None:
        """The result of a case that ran before, in this process or in an earlier one."""
        name = _name(case)
        if name not in self._known and not self._fresh and (saved := self._store.find(self._work(case))) is not None:
            self.saved += 1
            self._known[name] = saved.graded
        return self._known.get(name)

    def _work(self, case: Case) -> Work:
        setup = replace(self._setup, seed=case.seed)
        plan = RunPlan(self.course, [case.exercise], setup, runs_untouched=True, told=self._told)
        return Work(plan, case.exercise, case.submission())


def _name(case: Case) -> _Name:
    return case.exercise.id, case.kind, case.answer.source, case.seed, case.busy


def _ids(exercises: Sequence[Exercise]) -> list[str]:
    return [exercise.id for exercise in exercises]


@contextmanager
def _busy_cores(count: int) -> Iterator[None]:
    """Keep every core busy with processes that do nothing else."""
    # Processes, as threads would wait for each other's lock and keep one core busy.
    spin = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    spinners = [subprocess.Popen(spin, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
