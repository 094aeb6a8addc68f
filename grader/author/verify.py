"""The flow of `grade verify`: read an exercise, run its answers with all seeds, judge what they showed, and print that.

Right answers must pass with every seed, and the check that a wrong answer names must catch it. Answers are run as any
submission is graded. What an earlier command ran is not run again, as long as nothing has changed that it depends on.
Each result is saved as it arrives, so that a command that was interrupted goes on where it stopped. What may end
otherwise another time, such as a timeout, is saved until a command has come to its end.

With `--watch` an exercise is proved again each time one of its files is saved, in lanes that stay warm. Only what a
saved file changes is run: a wrong answer alone, or all of an exercise whose checks or reference have changed. Only the
files of the exercise are run: unusual answers and a busy machine take longer, and are left to the other runs.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.author.cases import AnswerRun, cases_of
from grader.author.judge import Proof, as_points_text, judge, losses_text, sorted_rules
from grader.author.text import collecting_problem, course_problems, leak_sentences, source_problems, text_problems
from grader.course.answers import read_answer
from grader.course.layout import COURSE_FILE, SHARED
from grader.course.load import load_course
from grader.course.topics import Coverage
from grader.course.watching import watch_files
from grader.grading.lanes import lanes_here
from grader.grading.outcomes import WorkResult, is_inconclusive
from grader.grading.plan import Work
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.grading.store import Keys, Store, is_repeatable, judge_digest
from grader.model import Check, Course, Exercise, GradedExercise
from grader.model.errors import CourseError
from grader.model.messages import Collected, Setup
from grader.model.progress import Progress
from grader.model.score import pluralize
from grader.report.blocks import TableColumn, table_lines
from grader.report.safe import WIDTH, for_terminal, prose

WATCH_SEEDS = 2
"""How many seeds are tried on each save by default."""

_SAVED = (".py", ".yaml", ".md")
_NAME, _NUMBER = 34, 7
_LOSSES = (
    TableColumn("wrong answer", 46, is_text=True),
    TableColumn("lost", 4),
    TableColumn("its rules", 10, is_text=True),
    TableColumn("other rules", is_text=True),
)


def lint_checks(exercises: Sequence[Exercise]) -> tuple[list[Exercise], list[Proof]]:
    """Separate the exercises whose check files the linter accepts from the others.

    Return the accepted ones, and for each of the others a `Proof` with the linter's findings: lines that have no effect
    on student code, or are never graded. Verdicts of such checks would mislead, so these exercises must not be run.
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
    """Runs the answers of exercises and judges what they show, for `grade verify`.

    Attributes:
        course: the whole course, as its files are now.
        setup: the setup with which exercises are run; the seeds are our own.
        store: the store with the results of earlier commands; new results are saved in it.
        seeds: the number of seeds with which a right answer must pass.
        progress: the receiver of lines about the run, and of how many of its submissions ran.
        known_only: True if somebody waits after each save: then only files of the exercise are run, not on a busy
            machine, and the course is not searched for solutions that are shown.
        answers: the names of the answers that are verified; if it is empty, whole exercises are.
        fresh: True if the cases are run although earlier commands saved their results.
    """

    course: Course
    setup: Setup
    store: Store
    seeds: int
    progress: Progress = field(default_factory=Progress)
    known_only: bool = False
    answers: Sequence[str] = ()
    fresh: bool = False
    _until_the_end: list[int] = field(default_factory=list, init=False)

    def verify(self, exercises: Sequence[Exercise], slots: int | None = None) -> list[Proof]:
        """Prove exercises of the course, and return their proofs.

        Args:
            exercises: the exercises.
            slots: the number of lanes; None for one lane more than exercises, but at most as many as this machine runs.

        Raises:
            StartError: a process of ours did not start.
        """
        ready, proofs = lint_checks(exercises)
        if ready:
            # A lane costs as much as many short runs, since it imports PyTorch.
            with Runtime(ready, self.setup, slots or min(lanes_here(), 1 + len(ready))) as runtime:
                proofs += self.prove(runtime, ready)
        return sorted(proofs, key=lambda proof: exercises.index(proof.exercise))

    def prove(self, runtime: Runtime, exercises: Sequence[Exercise]) -> list[Proof]:
        """Prove exercises of the course in a runtime that has their checks, and return the proofs."""
        problems, cases = self._problems_and_cases(exercises, self._checks_of(runtime, exercises))
        if self.known_only:
            cases = [replace(case, busy=False) for case in cases if case.is_from_file]
        works = {case: case.work(self.course, self.setup) for case in cases}
        saved = {case: one for case, work in works.items() if (one := self.store.find(work)) is not None}
        if self.fresh:
            with suppress(sqlite3.Error):  # the new results are found before them
                self.store.forget_results([one.id for one in saved.values() if one.id is not None])
            saved = {}
        self._until_the_end = [one.id for case, one in saved.items() if one.id and not _is_repeatable(case, one.graded)]
        # What is inconclusive is saved for the next run, which repeats its inconclusive checks alone.
        results = {case: one.graded for case, one in saved.items() if not is_inconclusive(one.graded)}
        earlier = Counter(case.exercise.id for case in results)
        new = [case for case in cases if case not in results]
        for busy, where in ((False, f"on {pluralize(runtime.slots, 'lane')}"), (True, "while all cores are busy")):
            if part := {works[case]: case for case in new if case.busy == busy}:
                self.progress.noted(f"running {pluralize(len(part), 'submission')} {where}")
                results |= self._run(runtime, part, spinning=busy * lanes_here())
        for exercise in exercises:
            # Its checks were changed meanwhile, and it is unknown which of the two ran.
            if (as_read := self.store.keys.judge_digest(exercise)) != judge_digest(exercise):
                self.store.forget(exercise.id, as_read)
        with suppress(sqlite3.Error):  # they are run again then
            self.store.forget_results(self._until_the_end)
        runs = [(case, results[case]) for case in cases]
        return [judge(item, problems[item.id], [run for run in runs if run[0].exercise is item], earlier[item.id])
                for item in exercises]  # fmt: skip

    def _checks_of(self, runtime: Runtime, exercises: Sequence[Exercise]) -> Collected:
        """Return the checks of exercises, from saved runs of their references.

        If the run of a reference is not saved, a lane collects the checks of all exercises.
        """
        checks: list[Check] = []
        for exercise in exercises:
            saved = None
            if exercise.reference is not None:
                with suppress(CourseError, OSError):  # reported where all files are read
                    case = AnswerRun(exercise, "reference", read_answer(exercise, exercise.reference), 0)
                    saved = self.store.find(case.work(self.course, self.setup))
            if saved is None:
                return runtime.collected()
            checks += [row.check for row in saved.graded.checks]
        return Collected(tuple(checks), {}, 1)

    def _problems_and_cases(
        self, exercises: Sequence[Exercise], collected: Collected
    ) -> tuple[dict[str, list[str]], list[AnswerRun]]:
        """Return the problems of each exercise by the exercise's id, and the cases to run.

        Problems of the course are among the problems of the first exercise. If only some answers are verified, no
        problem of another file is among them.
        """
        coverage, cases = Coverage.of(self.course), list[AnswerRun]()
        problems: dict[str, list[str]] = {exercise.id: [] for exercise in exercises}
        if not self.answers:
            problems[exercises[0].id] += course_problems(self.course, coverage)
        if not self.answers and not self.known_only:  # after each save it would be waited for
            problems[exercises[0].id] += leak_sentences(self.course)
        for exercise in exercises:
            own, checks = problems[exercise.id], [check for check in collected.checks if check.exercise == exercise.id]
            if not self.answers:
                own += text_problems(exercise, checks, coverage.topics)
            if exercise.is_by_staff:
                continue
            if problem := collected.problems.get(exercise.id):
                own.append(collecting_problem(exercise, problem))
            else:
                cases += cases_of(exercise, checks, self.seeds, own, self.answers)
        return problems, cases

    def _run(self, runtime: Runtime, works: Mapping[Work, AnswerRun], spinning: int) -> dict[AnswerRun, GradedExercise]:
        """Run cases on all lanes, save their results, and return these.

        Meanwhile `spinning` processes keep cores busy.
        """
        arrived, results = set[Work](), dict[AnswerRun, GradedExercise]()
        with ExitStack() as load:
            load.enter_context(_busy_cores(spinning))
            for finished in schedule(works, runtime, self.store):
                arrived.add(finished.work)
                self.progress.advanced(len(arrived), len(works))
                # What is inconclusive is repeated on a quiet machine, as for any submission.
                if len(arrived) == len(works):
                    load.close()
                case = works[finished.work]
                if finished.final:
                    results[case] = finished.graded
                if finished.id is None and (
                    finished.final or (is_inconclusive(finished.graded) and not finished.starved)
                ):
                    self._save(case, finished)
        return results

    def _save(self, case: AnswerRun, finished: WorkResult) -> None:
        """Save the result of a case.

        If another run of the case may end differently, the result is deleted when this command ends.
        """
        number = self.store.save_even_if_random(finished)
        if number is not None and not _is_repeatable(case, finished.graded):
            self._until_the_end.append(number)

    def watch(self, named: Sequence[str], say: Callable[..., None], *, poll: bool = False) -> None:
        """Prove an exercise again whenever one of its files is saved, until Ctrl-C.

        Args:
            named: ids of the exercises that are watched, and proved at once; if it is empty, all exercises are watched,
                and none of them is proved at once.
            say: a function that prints lines.
            poll: True if files are looked at again and again, where the system does not report changes.

        Raises:
            GraderError: no process of ours can be had, or the folder cannot be watched.
        """
        exercises = [item for item in self.course.exercises if not named or item.id in named]
        with Runtime(exercises, self.setup, min(2, lanes_here())) as runtime:
            # At once, so that PyTorch is imported while the first line is typed.
            runtime.warm_up()
            if not named:
                say("Save a file of an exercise, and it is verified.")
            ids, warned = [*named], False
            for paths in watch_files(self.course.root, poll=poll, kinds=_SAVED):
                ids += [id for id in _exercises_with_changed_files(self.course, named, paths) if id not in ids]
                if ids and self._prove_again(runtime, ids, say) and not warned:
                    tried = f"These are the exercise's own files, with {pluralize(self.seeds, 'seed')}"
                    say(f"{tried}; before you release it, run  grade verify  without --watch.")
                    warned = True
                ids = []

    def _prove_again(self, runtime: Runtime, ids: Sequence[str], say: Callable[..., None]) -> bool:
        """Read the course again, prove these exercises and print the proofs.

        Return True if at least one of these exercises can be used. None can be used if the course has problems.
        """
        started = time.monotonic()
        say("", f"{time.strftime('%H:%M:%S')}  verifying {', '.join(ids)} ...")
        try:
            course = self.course = load_course(self.course.root, whole=False)
        except CourseError as error:
            say(*error.problems)
            return False
        broken = [problem for item in course.broken if item.id in ids for problem in item.problems]
        exercises = [item for item in course.exercises if item.id in ids]
        self.store.keys = Keys()
        runtime.recollect(exercises)
        ready, proofs = lint_checks(exercises)
        if ready:
            proofs += self.prove(runtime, ready)
        say(*proof_lines(proofs, broken), f"({time.monotonic() - started:.2f} s)")
        return bool(exercises)


def _exercises_with_changed_files(course: Course, named: Sequence[str], paths: set[Path]) -> list[str]:
    """Return the ids of the watched exercises that changed files belong to.

    A changed file of the course itself belongs to all exercises in `named`. If `named` is empty, all exercises are
    watched.
    """
    root = course.root.resolve()  # a folder above the course may have the name of an exercise
    inside = (path.resolve().relative_to(root) for path in paths if path.resolve().is_relative_to(root))
    saved = {part for path in inside for part in path.parts}
    if saved & {COURSE_FILE, SHARED}:
        saved |= set(named)
    known = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    return [id for id in known if id in saved and (not named or id in named)]


def _is_repeatable(case: AnswerRun, graded: GradedExercise) -> bool:
    """Return whether a case would have the same result if it ran again.

    Later commands may use such a result. A right answer may fail a check of speed by accident.
    """
    verdicts = [row.outcome.verdict for row in graded.checks]
    slow_counts = case.kind not in ("reference", "right")
    return is_repeatable(graded) or (slow_counts and bool(verdicts) and all(one.is_repeatable for one in verdicts))


@contextmanager
def _busy_cores(count: int) -> Iterator[None]:
    """Keep `count` cores busy with computing processes while the `with` block runs."""
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


# -- what is printed ---------------------------------------------------------------------------------------------------


def proof_lines(proofs: Sequence[Proof], broken: Sequence[str] = (), answers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines that `grade verify` prints.

    They are a row for each exercise, notes, and the problems with what to do about them.

    Args:
        proofs: the proofs of exercises that can be used.
        broken: the problems of exercises that cannot be used.
        answers: the names of the answers that were verified; if it is empty, whole exercises were.
    """
    yield from _table(proofs)
    if saved := sum(proof.saved for proof in proofs):
        has, results = ("has", "its result is") if saved == 1 else ("have", "their results are")
        unchanged = f"{pluralize(saved, 'submission')} {has} not changed since an earlier run"
        yield from prose(f"{unchanged}, so {results} used again (--fresh runs all)", WIDTH, further="    ")
    for proof in proofs:
        if proof.unproved:
            files = for_terminal(", ".join(proof.unproved), one_line=True)
            yield f"{proof.exercise.id}: not proved here, as the named check needs what is not here: {files}"
    losses = [loss for proof in proofs for loss in proof.losses]
    if total := sum(loss.lost_hundredths for loss in losses):
        others = sum(sum(loss.lost_on_other_rules.values()) for loss in losses)
        yield f"{100 * others / total:.0f} % of the points that wrong answers lose are for rules that they obey"
    for note in (note for proof in proofs for note in proof.notes):
        yield from prose(note, WIDTH, further="    ")
    problems = _problems(proofs, broken)
    yield ""
    for problem in problems:
        yield from prose(problem, WIDTH, further="    ")
    yield "No problems found." if not problems else f"{pluralize(len(problems), 'problem')} to fix."
    if answers:
        runs = sum(total for proof in proofs for _, total in proof.counts.values())
        names, was = for_terminal(", ".join(answers), one_line=True), "was" if len(answers) == 1 else "were"
        whole = " ".join(proof.exercise.id for proof in proofs)
        only = f"Only {names} {was} verified, in {pluralize(runs, 'run')}; before you release the exercise, run"
        yield from prose(f"{only}  grade verify {whole}", WIDTH, further="    ")


def unsaved_line(why: str) -> str:
    """Return a sentence for the user that says why results cannot be saved, and what follows.

    Args:
        why: the reason.
    """
    return f"Results cannot be saved ({why}), so the next grade verify will run again what this one ran."


def _table(proofs: Sequence[Proof]) -> Iterator[str]:
    kinds = ("starter", "reference", "right", "wrong")
    rows = []
    for proof in proofs:
        counts = [proof.counts.get(kind, (0, 0)) for kind in kinds]
        cells = [f"{good}/{total}" if total else "-" for good, total in counts]
        name = for_terminal(f"{proof.exercise.number} {proof.exercise.id}", one_line=True)
        rows.append([name, *cells, f"{proof.seconds:.2f} s" if "reference" in proof.counts else "-"])
    heads = [TableColumn("exercise", _NAME, is_text=True), *(TableColumn(title, _NUMBER) for title in (*kinds, "time"))]
    yield from table_lines(heads, rows, WIDTH, gap=1)


def _problems(proofs: Sequence[Proof], broken: Sequence[str]) -> list[str]:
    return [*broken, *(problem for proof in proofs for problem in proof.problems)]


def proof_data(proofs: Sequence[Proof], broken: Sequence[str] = (), answers: Sequence[str] = ()) -> dict[str, Any]:
    """Return proofs as a dict for JSON.

    It is, for example, `{"holds": True, "only": [], "problems": [], "exercises": [...]}`. `holds` is False if there is
    a problem. `exercises` has a dict for each exercise.

    Args:
        proofs: the proofs of exercises that can be used.
        broken: the problems of exercises that cannot be used.
        answers: the names of the answers that were verified; if it is empty, whole exercises were.
    """
    exercises = [
        {
            "id": proof.exercise.id,
            "number": proof.exercise.number,
            "runs": {kind: {"good": good, "all": total} for kind, (good, total) in proof.counts.items()},
            "seconds": proof.seconds,
            "problems": proof.problems,
            "notes": proof.notes,
            "unproved": proof.unproved,
        }
        for proof in proofs
    ]
    holds = not _problems(proofs, broken)
    return {"holds": holds, "only": list(answers), "problems": list(broken), "exercises": exercises}


def loss_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """Yield the lines of a table with the points that each wrong answer loses.

    It shows the points on rules that the answer breaks, and those on other rules.
    """
    rows = []
    for proof in proofs:
        for loss in proof.losses:
            name = for_terminal(f"{proof.exercise.number} {loss.name.removesuffix('.py')}", one_line=True)
            others = loss.lost_on_other_rules
            broken = ",".join(sorted_rules(loss.broken_rules))
            own = f"{broken} {as_points_text(loss.lost_hundredths - sum(others.values()))}"
            rows.append([name, as_points_text(loss.lost_hundredths), own, losses_text(others)])
    yield from table_lines(_LOSSES, rows, WIDTH)
