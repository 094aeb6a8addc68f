"""Proves a course: right answers pass with every seed, wrong ones are caught by the check that they name."""

from __future__ import annotations

import ast
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from grader.course.inventory import stray_files
from grader.course.layout import Places
from grader.course.topics import Coverage
from grader.grading import Sheet, grade_submission, repeats
from grader.jobs import Collected, Setup
from grader.keys import judge_of
from grader.lanes.lane import Lane
from grader.lanes.pool import Pool, cores, open_pool
from grader.model import Check, Course, Exercise, Report
from grader.model.errors import CourseError
from grader.model.score import counted
from grader.verify.alike import alike_notes
from grader.verify.cases import WRONG_SEEDS, Case, cases_of
from grader.verify.coverage import unknown_topics
from grader.verify.judge import judge
from grader.verify.losses import loss_problems, losses_of
from grader.verify.margins import margin_problems
from grader.verify.odd import odd_cases
from grader.verify.places import unread
from grader.verify.proof import Proof
from grader.verify.steady import steady_problems
from grader.verify.text import text_problems
from grader.verify.told import judge_messages

_RUNS_FOR_A_LANE = 40

_Key = tuple[str, str, int, str, bytes, int, bool]


def verify(
    course: Course,
    exercises: Sequence[Exercise],
    setup: Setup,
    seeds: int,
    say: Callable[[str], None],
    lanes_wanted: int | None = None,
    ran: Callable[[int, int], None] = lambda count, of: None,
) -> list[Proof]:
    """Prove exercises of a course.

    Args:
        course: the whole course.
        exercises: those to prove.
        setup: how they are run; the seeds are our own.
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        lanes_wanted: how many are run at once; by default as many as there are cores.
        ran: told how many submissions ran, of how many that run now.

    Raises:
        StartError: a process of ours did not start.
    """
    if not exercises:
        return []
    # A lane costs as much as many short runs: it has PyTorch to import.
    runs = sum(_runs_of(item, seeds) for item in exercises)
    with open_pool(exercises, setup, lanes_wanted or min(len(cores()), 1 + runs // _RUNS_FOR_A_LANE)) as pool:
        return prove(pool, exercises, Runs(course, setup, ran=ran), seeds, say)


def prove(
    pool: Pool,
    exercises: Sequence[Exercise],
    runs: Runs,
    seeds: int,
    say: Callable[[str], None],
    *,
    first: Callable[[list[Proof]], None] = lambda proofs: None,
    stops: Callable[[], bool] = lambda: False,
) -> list[Proof]:
    """Prove exercises in lanes that are open; see `verify`.

    Args:
        pool: its lanes have the checks of the exercises.
        exercises: those to prove.
        runs: what runs them, and knows what ran before.
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        first: told what the known answers show in quiet, if there is more to run: that takes longer.
        stops: asked before each run whether nobody waits for this any more. Then what comes out is not all of it.
    """
    proofs = [Proof(exercise) for exercise in exercises]
    collected = pool.submit(runs.collected).result()
    _read(runs.course, proofs, collected)
    cases = [case for proof in proofs if proof.exercise.id not in collected.problems
             for case in _cases(proof, _checks_of(collected, proof), seeds)]  # fmt: skip
    known = [case for case in cases if not case.busy and case.kind != "odd"]
    odd = [case for case in cases if not case.busy and case.kind == "odd"]
    busy = [case for case in cases if case.busy]
    if count := runs.new([*known, *odd]):
        say(f"running {counted(count, 'submission')} on {counted(pool.slots, 'lane')}")
    found = runs.run_all(pool, known, stops)
    if runs.new([*odd, *busy]) and not stops():
        first(_concluded(proofs, collected, found))
    found += runs.run_all(pool, odd, stops)
    if count := runs.new(busy):
        say(f"running {counted(count, 'submission')} while all cores are busy")
    found += runs.run_all(pool, busy, stops, while_busy=count > 0)
    return _concluded(proofs, collected, found)


def _checks_of(collected: Collected, proof: Proof) -> list[Check]:
    return [check for check in collected.checks if check.exercise == proof.exercise.id]


def _runs_of(exercise: Exercise, seeds: int) -> int:
    """About how many runs prove an exercise."""
    return seeds * (1 + len(exercise.right)) + min(seeds, WRONG_SEEDS) * len(exercise.wrong)


def _cases(proof: Proof, checks: Sequence[Check], seeds: int) -> list[Case]:
    """All runs that prove an exercise; a file that cannot be read is a problem of it, and none of the others."""
    try:
        if proof.exercise.reference is not None:  # each run would say that it is at fault itself
            ast.parse(proof.exercise.reference.read_bytes())
        return [*cases_of(proof, checks, seeds), *odd_cases(proof)]
    except CourseError as error:
        proof.problems += [f"{Places.of(proof.exercise).staff.as_posix()}/{problem}" for problem in error.problems]
    except SyntaxError as error:
        where = Places.of(proof.exercise).reference.as_posix()
        proof.problems.append(f"{where}: line {error.lineno}: the reference is not valid Python ({error.msg}); mend it")
    except (OSError, ValueError) as error:
        told = f"{getattr(error, 'strerror', None) or error}"
        where = getattr(error, "filename", None) or Places.of(proof.exercise).staff.as_posix()
        proof.problems.append(f"{where}: a file cannot be read ({told}); mend it")
    return []


def _concluded(proofs: Sequence[Proof], collected: Collected, found: Sequence[tuple[Case, Report]]) -> list[Proof]:
    """Judge what the runs of exercises' files show; the proofs stay as reading left them."""
    concluded = []
    for read in proofs:
        proof, checks = Proof(read.exercise, problems=[*read.problems]), _checks_of(collected, read)
        graded = [(case, report.exercises[0]) for case, report in found if case.exercise.id == proof.exercise.id]
        outcomes = [(case, [row.outcome for row in rows.checks]) for case, rows in graded]
        judge(proof, checks, outcomes)
        judge_messages(proof, checks, outcomes)
        proof.problems += margin_problems(proof.exercise, outcomes)
        proof.losses += losses_of(graded)
        proof.notes += alike_notes(proof, graded)
        proof.problems += [*loss_problems(proof), *steady_problems(proof, graded)]
        concluded.append(proof)
    return concluded


def _read(course: Course, proofs: Sequence[Proof], collected: Collected) -> None:
    """Find what reading finds, and what keeps checks from being collected."""
    coverage = Coverage.of(course)
    for proof in proofs:
        exercise = proof.exercise
        if problem := collected.problems.get(exercise.id):
            proof.problems.append(unread(exercise, problem))
        proof.problems += text_problems(exercise, _checks_of(collected, proof), coverage.topics)
    stray = [f"{path}: this file has no place in a course; remove it or mend its name" for path in stray_files(course)]
    proofs[0].problems += [*stray, *unknown_topics(coverage)]


class Runs:
    """Runs cases as any submission is graded, a starter too. What ran once with the same files is not run again.

    Args:
        course: whose exercises these are.
        setup: how they are run.
        told: whether somebody reads what students are told.
        ran: told how many submissions ran, of how many that run now.
    """

    def __init__(
        self,
        course: Course,
        setup: Setup,
        *,
        told: bool = False,
        ran: Callable[[int, int], None] = lambda count, of: None,
    ) -> None:
        self.course = course
        self._told = told
        self._ran = ran
        self._setup = setup
        self._known: dict[_Key, Report] = {}
        self._judges: dict[str, str] = {}
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
        self._known = {key: report for key, report in self._known.items() if key[0] not in changed}

    def _key(self, case: Case) -> _Key:
        if case.exercise.id not in self._judges:
            self._judges[case.exercise.id] = judge_of(case.exercise)
        exercise = case.exercise
        judge = self._judges[exercise.id]
        return exercise.id, judge, exercise.points, case.kind, case.answer.source, case.seed, case.busy

    def new(self, cases: Sequence[Case]) -> int:
        """How many of the cases did not run before."""
        return sum(self._key(case) not in self._known for case in cases)

    def collected(self, lane: Lane) -> Collected:
        """The checks of all exercises, as their files are now."""
        if self._anew is not None and self._read.get(lane) is not self._anew:
            lane.collect_anew(self._anew)
            self._read[lane] = self._anew
        return lane.collected

    def run_all(
        self, pool: Pool, cases: Sequence[Case], stops: Callable[[], bool], *, while_busy: bool = False
    ) -> list[tuple[Case, Report]]:
        """A report for each case, on all lanes at once; of those that began before it was to stop.

        Args:
            pool: the lanes.
            cases: what to run.
            stops: asked before each.
            while_busy: whether all cores are kept busy meanwhile.
        """

        def run(case: Case, lane: Lane) -> Report | None:
            return None if stops() else self.run(case, lane)

        with _busy_cores(len(cores()) if while_busy else 0):
            futures = [pool.submit(partial(run, case)) for case in cases]
            found = []
            for count, (case, future) in enumerate(zip(cases, futures, strict=True), 1):
                if report := future.result():
                    found.append((case, report))
                self._ran(count, len(cases))
        # When the others are done, and so in quiet, as a batch does it.
        return [(case, pool.submit(partial(self.repeat, case, report)).result()) for case, report in found]

    def run(self, case: Case, lane: Lane) -> Report:
        """The report of one case."""
        key = self._key(case)
        if key not in self._known:
            self.collected(lane)
            self._known[key] = grade_submission(self._sheet(case), case.submission(), lane)
        return self._known[key]

    def repeat(self, case: Case, report: Report, lane: Lane) -> Report:
        """What was inconclusive, repeated on a quiet machine, as for any submission."""
        if not repeats(report):
            return report
        self.collected(lane)
        again = grade_submission(self._sheet(case), case.submission(), lane, earlier=report.exercises)
        self._known[self._key(case)] = again
        return again


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
