"""The flow of `grade verify`: read an exercise, run its answers with all seeds, and judge what they showed.

Right answers must pass with every seed, and the check that a wrong answer names must catch it. Answers are run as any
submission is graded. What an earlier command ran is not run again, as long as nothing has changed that it depends on.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from grader.author.cases import Case, cases_of
from grader.author.judge import Proof, judge
from grader.author.text import collecting_problem, course_problems, source_problems, text_problems
from grader.course.topics import Coverage
from grader.grading.lanes import Lanes, lanes_here, open_lanes
from grader.grading.plan import Work
from grader.grading.schedule import schedule
from grader.grading.store import Store, judge_of
from grader.model import Course, Exercise, GradedExercise
from grader.model.messages import Collected, Setup
from grader.model.score import counted


def read_checks(exercises: Sequence[Exercise]) -> tuple[list[Exercise], list[Proof]]:
    """Read the check files, before anything runs.

    Returns:
        The exercises that can be run, and proofs of the others: lines of their check files have no effect, so what the
        checks then say would mislead.
    """
    ready, refused = [], []
    for exercise in exercises:
        if problems := [*source_problems(exercise)]:
            note = f"{exercise.id}: nothing of it was run; first fix the lines of its check files that are listed"
            refused.append(Proof(exercise, problems, notes=[note]))
        else:
            ready.append(exercise)
    return ready, refused


@dataclass
class Prover:
    """Proves exercises of a course.

    Attributes:
        course: the whole course, as its files are now.
        setup: how exercises are run; the seeds are our own.
        store: has what earlier commands ran, and gets what is run now.
        seeds: how many seeds a right answer must pass with.
        say: prints what goes on, a line at a time.
        ran: called with how many submissions ran, of how many that run now.
        known_only: whether somebody waits after each save: then only files of the exercise are run, not on a busy
            machine.
    """

    course: Course
    setup: Setup
    store: Store
    seeds: int
    say: Callable[[str], None] = lambda line: None
    ran: Callable[[int, int], None] = lambda count, of: None
    known_only: bool = False

    def verify(self, exercises: Sequence[Exercise], slots: int | None = None) -> list[Proof]:
        """Prove exercises of the course; `slots` lanes run at once, by default as many as there are cores.

        Raises:
            StartError: a process of ours did not start.
        """
        ready, proofs = read_checks(exercises)
        if ready:
            # A lane costs as much as many short runs, since it imports PyTorch.
            with open_lanes(ready, self.setup, slots or min(lanes_here(), 1 + len(ready))) as lanes:
                proofs += self.prove(lanes, ready)
        return sorted(proofs, key=lambda proof: exercises.index(proof.exercise))

    def prove(self, lanes: Lanes, exercises: Sequence[Exercise]) -> list[Proof]:
        """Prove exercises of the course, in lanes that have their checks."""
        problems, cases = self._read(exercises, lanes.collected())
        if self.known_only:
            cases = [replace(case, busy=False) for case in cases if case.is_known]
        works = {case: case.work(self.course, self.setup) for case in cases}
        results = {case: saved.graded for case, work in works.items() if (saved := self.store.find(work))}
        earlier = Counter(case.exercise.id for case in results)
        new = [case for case in cases if case not in results]
        for busy, where in ((False, f"on {counted(lanes.slots, 'lane')}"), (True, "while all cores are busy")):
            if part := {works[case]: case for case in new if case.busy == busy}:
                self.say(f"running {counted(len(part), 'submission')} {where}")
                results |= self._run(lanes, part, spinning=busy * lanes_here())
        for exercise in exercises:
            # Its checks were changed meanwhile, and it is unknown which of the two ran.
            if (as_read := self.store.keys.judge(exercise)) != judge_of(exercise):
                self.store.forget(exercise.id, as_read)
        runs = [(case, results[case]) for case in cases]
        return [judge(item, problems[item.id], [run for run in runs if run[0].exercise is item], earlier[item.id])
                for item in exercises]  # fmt: skip

    def _read(self, exercises: Sequence[Exercise], collected: Collected) -> tuple[dict[str, list[str]], list[Case]]:
        """What reading shows, by exercise, and what is to be run; problems of the course are the first exercise's."""
        coverage, cases = Coverage.of(self.course), list[Case]()
        problems: dict[str, list[str]] = {exercise.id: [] for exercise in exercises}
        problems[exercises[0].id] += course_problems(self.course, coverage)
        for exercise in exercises:
            own, checks = problems[exercise.id], [check for check in collected.checks if check.exercise == exercise.id]
            own += text_problems(exercise, checks, coverage.topics)
            if problem := collected.problems.get(exercise.id):
                own.append(collecting_problem(exercise, problem))
            else:
                cases += cases_of(exercise, checks, self.seeds, own)
        return problems, cases

    def _run(self, lanes: Lanes, works: Mapping[Work, Case], spinning: int) -> dict[Case, GradedExercise]:
        """The result of each work, on all lanes at once."""
        arrived, results = set[Work](), dict[Case, GradedExercise]()
        with ExitStack() as load:
            load.enter_context(_busy_cores(spinning))
            for finished in schedule(works, lanes, self.store):
                arrived.add(finished.work)
                self.ran(len(arrived), len(works))
                # What is inconclusive is repeated on a quiet machine, as for any submission.
                if len(arrived) == len(works):
                    load.close()
                if finished.final:
                    case = works[finished.work]
                    results[case] = finished.graded
                    if finished.id is None and _stays_slow(case, finished.graded):
                        with suppress(sqlite3.Error):  # it can be run again
                            self.store.add(finished)
        return results


def _stays_slow(case: Case, graded: GradedExercise) -> bool:
    """Whether a failed check of speed counts at once; for a right answer it may be an accident."""
    verdicts = [row.outcome.verdict for row in graded.checks]
    return case.kind not in ("reference", "right") and bool(verdicts) and all(one.lasts for one in verdicts)


@contextmanager
def _busy_cores(count: int) -> Iterator[None]:
    """Keep every core busy with processes that do nothing else."""
    # Processes, as threads would wait for each other's lock and keep one core busy. They end if this one was killed.
    parent = "os.getppid()" if sys.platform == "win32" else os.getpid()  # there, Python of a venv starts another one
    program = f"import os\nwhile os.getppid() == {parent}:\n    sum(range(100_000))"
    spin = [sys.executable, "-I", "-S", "-c", program]
    spinners = [subprocess.Popen(spin, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
