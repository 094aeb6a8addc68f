"""Runs the files of an exercise, each once: what ran before with all that it hangs on is not run again."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from grader.author.cases import Case
from grader.author.kept import Kept
from grader.grading.grade import Sheet, grade_submission, is_open
from grader.grading.keys import judge_of
from grader.model import Course, Exercise, GradedExercise
from grader.model.messages import Collected, Setup
from grader.runner.lane import Lane
from grader.runner.pool import Pool, cores

_Key = tuple[str, str, int, str, bytes, int, bool]


class Runs:
    """Runs cases as any submission is graded, a starter too. What ran once with the same files is not run again.

    Args:
        course: whose exercises these are.
        setup: how they are run.
        told: whether somebody reads what students are told.
        ran: told how many submissions ran, of how many that run now.
        kept: what earlier commands showed, if that is asked.
    """

    def __init__(
        self,
        course: Course,
        setup: Setup,
        *,
        told: bool = False,
        ran: Callable[[int, int], None] = lambda count, of: None,
        kept: Kept | None = None,
    ) -> None:
        self.course = course
        self._told = told
        self._ran = ran
        self._setup = setup
        self._kept = kept
        self._known: dict[_Key, GradedExercise] = {}
        self._judges: dict[str, str] = {}
        self._ran_anew: set[str] = set()
        self._anew: Sequence[Exercise] | None = None
        self._read: weakref.WeakKeyDictionary[Lane, Sequence[Exercise]] = weakref.WeakKeyDictionary()

    def _sheet(self, case: Case) -> Sheet:
        setup = replace(self._setup, seed=case.seed)
        return Sheet(self.course, [case.exercise], setup, runs_untouched=True, told=self._told)

    def judged_by(self, exercises: Sequence[Exercise]) -> None:
        """Tell what judges exercises from now on: their files may have been changed since the last run."""
        self._anew = exercises
        self._judges |= {exercise.id: judge_of(exercise) for exercise in exercises}

    def settle(self, exercises: Sequence[Exercise]) -> None:
        """Forget what ran while its judge was changed: nobody knows by which of the two."""
        changed = {item.id for item in exercises if self._judges[item.id] != judge_of(item)}
        self._known = {key: graded for key, graded in self._known.items() if key[0] not in changed}

    def keep(self, exercises: Sequence[Exercise], found: Sequence[tuple[Case, GradedExercise]]) -> None:
        """Keep what all runs of exercises showed for the next command, where their judge is still the same."""
        if self._kept is None:
            return
        for exercise in (item for item in exercises if item.id in self._ran_anew):
            judge, mine = self._judge(exercise), [(case, row) for case, row in found if case.exercise.id == exercise.id]
            if judge == judge_of(exercise):
                self._kept.write(exercise, judge, mine)

    def _judge(self, exercise: Exercise) -> str:
        if exercise.id not in self._judges:
            self._judges[exercise.id] = judge_of(exercise)
        return self._judges[exercise.id]

    def _key(self, case: Case) -> _Key:
        exercise = case.exercise
        judge = self._judge(exercise)
        return exercise.id, judge, exercise.points, case.kind, case.answer.source, case.seed, case.busy

    def _found(self, case: Case) -> GradedExercise | None:
        """What a case showed when it ran before, in this process or in an earlier one."""
        key = self._key(case)
        if key not in self._known and self._kept is not None:
            graded = self._kept.graded(case, self._judge(case.exercise))
            if graded is not None:
                self._known[key] = graded
        return self._known.get(key)

    def new(self, cases: Sequence[Case]) -> int:
        """How many of the cases did not run before."""
        return sum(self._found(case) is None for case in cases)

    def checks(self, pool: Pool, exercises: Sequence[Exercise]) -> Collected:
        """The checks of exercises: as they are kept, so that no lane need be open, or as a lane reads them."""
        if self._kept is not None:
            known = [self._kept.checks(exercise, self._judge(exercise)) for exercise in exercises]
            if all(known):
                return Collected(tuple(check for checks in known for check in checks), {}, 1)
        return pool.submit(self.collected).result()

    def collected(self, lane: Lane) -> Collected:
        """The checks of all exercises, as their files are now."""
        if self._anew is not None and self._read.get(lane) is not self._anew:
            lane.collect_anew(self._anew)
            self._read[lane] = self._anew
        return lane.collected

    def run_all(
        self, pool: Pool, cases: Sequence[Case], stops: Callable[[], bool], *, while_busy: bool = False
    ) -> list[tuple[Case, GradedExercise]]:
        """What each case showed, on all lanes at once; of those that began before it was to stop.

        Args:
            pool: the lanes.
            cases: what to run.
            stops: asked before each.
            while_busy: whether all cores are kept busy meanwhile.
        """

        def run(case: Case, lane: Lane) -> GradedExercise | None:
            return None if stops() else self.run(case, lane)

        known = [self._found(case) for case in cases]
        with _busy_cores(len(cores()) if while_busy else 0):
            # Of what is known no lane is asked: it costs more than all the rest.
            new = [case for case, graded in zip(cases, known, strict=True) if graded is None]
            futures = [pool.submit(partial(run, case)) for case in new]
            results = self._results(futures)
            shown = [(case, graded or next(results)) for case, graded in zip(cases, known, strict=True)]
        found = [(case, graded) for case, graded in shown if graded is not None]
        # When the others are done, and so in quiet, as a batch does it.
        return [
            (case, pool.submit(partial(self.repeat, case, graded)).result() if is_open(graded) else graded)
            for case, graded in found
        ]

    def _results(self, futures: Sequence[Future[GradedExercise | None]]) -> Iterator[GradedExercise | None]:
        for count, future in enumerate(futures, 1):
            graded = future.result()
            self._ran(count, len(futures))
            yield graded

    def run(self, case: Case, lane: Lane) -> GradedExercise:
        """What one case shows."""
        graded = self._found(case)
        if graded is None:
            self._ran_anew.add(case.exercise.id)
            self.collected(lane)
            report = grade_submission(self._sheet(case), case.submission(), lane)
            graded = self._known[self._key(case)] = report.exercises[0]
        return graded

    def repeat(self, case: Case, graded: GradedExercise, lane: Lane) -> GradedExercise:
        """What was inconclusive, repeated on a quiet machine, as for any submission."""
        if not is_open(graded):
            return graded
        self.collected(lane)
        report = grade_submission(self._sheet(case), case.submission(), lane, earlier=[graded])
        self._known[self._key(case)] = report.exercises[0]
        return report.exercises[0]


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
