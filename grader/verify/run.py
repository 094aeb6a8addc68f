"""Proves a course: right answers pass with every seed, wrong ones are caught by the check that they name."""

from __future__ import annotations

import queue
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from grader.course.layout import Places, stray_files
from grader.course.topics import Coverage
from grader.grading import Sheet, grade_submission, repeats
from grader.jobs import Setup
from grader.lanes.lane import Lane
from grader.lanes.open import open_lanes
from grader.lanes.pool import cores
from grader.model import Check, Course, Exercise, Report
from grader.verify.alike import alike_notes
from grader.verify.cases import Case, cases_of
from grader.verify.coverage import unknown_topics
from grader.verify.judge import judge
from grader.verify.losses import loss_problems, losses_of
from grader.verify.margins import margin_problems
from grader.verify.odd import odd_cases
from grader.verify.proof import Proof
from grader.verify.steady import steady_problems
from grader.verify.text import text_problems
from grader.verify.told import judge_messages


def verify(
    course: Course,
    exercises: Sequence[Exercise],
    setup: Setup,
    seeds: int,
    say: Callable[[str], None],
    lanes_wanted: int | None = None,
) -> list[Proof]:
    """Prove exercises of a course.

    Args:
        course: the whole course.
        exercises: those to prove.
        setup: how they are run; the seeds are our own.
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        lanes_wanted: how many are run at once; by default as many as there are cores.

    Raises:
        StartError: a process of ours did not start.
    """
    proofs = [Proof(exercise) for exercise in exercises]
    lanes_wanted = lanes_wanted or len(cores())
    with open_lanes(exercises, setup, lanes_wanted) as lanes:
        _read(course, proofs, lanes[0])
        cases = [case for proof in proofs if proof.exercise.id not in lanes[0].collected.problems
                 for case in (*cases_of(proof, lanes[0].checks_of(proof.exercise), seeds),
                              *odd_cases(proof))]  # fmt: skip
        quiet = [case for case in cases if not case.busy]
        busy = [case for case in cases if case.busy]
        runs = Runs(course, setup)
        say(f"running {len(quiet)} submissions on {lanes_wanted} lanes")
        found = runs.run_all(lanes, quiet)
        if busy:
            say(f"running {len(busy)} submissions while all cores are busy")
            with _busy_cores(len(cores())):
                found += runs.run_all(lanes, busy)
        # When all else is done, and so in quiet, as a batch does it.
        found = [(case, runs.repeat(lanes[0], case, report)) for case, report in found]
        for proof in proofs:
            mine = [(case, report) for case, report in found if case.exercise.id == proof.exercise.id]
            _conclude(proof, lanes[0].checks_of(proof.exercise), mine)
    stray = [f"{path}: this file has no place in a course; remove it or mend its name" for path in stray_files(course)]
    stray += unknown_topics(Coverage.of(course))
    if stray and proofs:
        proofs[0].problems += stray
    return proofs


def _conclude(proof: Proof, checks: Sequence[Check], found: Sequence[tuple[Case, Report]]) -> None:
    """Judge what the runs of an exercise's files show."""
    outcomes = [(case, [row.outcome for row in report.exercises[0].checks]) for case, report in found]
    judge(proof, checks, outcomes)
    judge_messages(proof, checks, outcomes)
    proof.problems += margin_problems(proof.exercise, outcomes)
    graded = [(case, report.exercises[0]) for case, report in found]
    proof.losses += losses_of(graded)
    proof.notes += alike_notes(proof, graded)
    proof.problems += [*loss_problems(proof), *steady_problems(proof, graded)]


def _read(course: Course, proofs: Sequence[Proof], lane: Lane) -> None:
    """Find what reading finds, and what keeps checks from being collected."""
    topics = Coverage.of(course).topics
    for proof in proofs:
        exercise = proof.exercise
        if problem := lane.collected.problems.get(exercise.id):
            where, text = Places.of(exercise).shown.as_posix(), problem.strip().split("\n")[-1]
            proof.problems.append(f"{where}: its checks cannot be collected; mend them: {text}")
        proof.problems += text_problems(exercise, lane.checks_of(exercise), topics)


class Runs:
    """Runs cases as any submission is graded, a starter too."""

    def __init__(self, course: Course, setup: Setup) -> None:
        self._course = course
        self._setup = setup

    def _sheet(self, case: Case) -> Sheet:
        setup = replace(self._setup, seed=case.seed)
        return Sheet(self._course, [case.exercise], setup, runs_untouched=True)

    def run_all(self, lanes: Sequence[Lane], cases: Sequence[Case]) -> list[tuple[Case, Report]]:
        """A report for each case, on all lanes at once."""
        # As many threads as lanes, so a lane is always free for the thread that asks.
        free: queue.Queue[Lane] = queue.Queue()
        for lane in lanes:
            free.put(lane)

        def run(case: Case) -> tuple[Case, Report]:
            lane = free.get()
            try:
                return case, self.run(case, lane)
            finally:
                free.put(lane)

        with ThreadPoolExecutor(len(lanes)) as threads:
            return list(threads.map(run, cases))

    def run(self, case: Case, lane: Lane) -> Report:
        """The report of one case."""
        return grade_submission(self._sheet(case), case.submission(), lane)

    def repeat(self, lane: Lane, case: Case, report: Report) -> Report:
        """What was inconclusive, repeated on a quiet machine, as for any submission."""
        if not repeats(report):
            return report
        return grade_submission(self._sheet(case), case.submission(), lane, earlier=report.exercises)


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
