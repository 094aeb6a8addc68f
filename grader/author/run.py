"""Proves a course: right answers pass with every seed, wrong ones are caught by the check that they name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress

from grader.author.alike import alike_notes
from grader.author.cases import WRONG_SEEDS, Case, cases_of, references
from grader.author.constants import CONSTANTS, constant_cases, constant_problems
from grader.author.coverage import unknown_topics
from grader.author.judge import judge
from grader.author.losses import loss_problems, losses_of
from grader.author.margins import margin_problems
from grader.author.odd import ODD, functions_asked_for, odd_cases
from grader.author.places import unread
from grader.author.proof import Proof
from grader.author.runs import Runs
from grader.author.steady import steady_problems
from grader.author.text import source_problems, text_problems
from grader.author.told import judge_messages
from grader.course.inventory import stray_files
from grader.course.layout import Places
from grader.course.topics import Coverage
from grader.grading.lanes import Lanes, open_lanes
from grader.model import Check, Course, Exercise, GradedExercise
from grader.model.errors import CourseError
from grader.model.messages import Collected, Setup
from grader.model.score import counted
from grader.runner.pool import cores

_RUNS_FOR_A_LANE = 40


def verify(
    exercises: Sequence[Exercise],
    setup: Setup,
    runs: Runs,
    seeds: int,
    say: Callable[[str], None],
    lanes_wanted: int | None = None,
) -> list[Proof]:
    """Prove exercises of a course.

    Args:
        exercises: those to prove.
        setup: how they are run; the seeds are our own.
        runs: runs their files.
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        lanes_wanted: how many are run at once; by default as many as there are cores.

    Raises:
        StartError: a process of ours did not start.
    """
    ready, proofs = read_checks(exercises)
    if ready:
        # A lane costs as much as many short runs: it has PyTorch to import.
        count = sum(_runs_of(item, seeds) for item in ready) - runs.count_saved(ready)
        slots = min(len(cores()), 1 + max(0, count) // _RUNS_FOR_A_LANE)
        with open_lanes(ready, setup, lanes_wanted or slots) as lanes:
            proofs += prove(lanes, ready, runs, seeds, say)
    return sorted(proofs, key=lambda proof: exercises.index(proof.exercise))


def read_checks(exercises: Sequence[Exercise]) -> tuple[list[Exercise], list[Proof]]:
    """Read the check files, before anything runs.

    Returns:
        The exercises that can be run, and proofs of the others: lines of their check files have no effect, so what the
        checks then say would mislead.
    """
    refused = []
    for exercise in exercises:
        if problems := list(source_problems(exercise)):
            notes = [f"{exercise.id}: nothing of it was run; first fix the lines of its check files that are listed"]
            refused.append(Proof(exercise, problems, notes=notes))
    ids = [proof.exercise.id for proof in refused]
    return [exercise for exercise in exercises if exercise.id not in ids], refused


def prove(
    lanes: Lanes,
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
        lanes: they have the checks of the exercises.
        exercises: those to prove.
        runs: what runs them, and knows what ran before.
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        first: told what the known answers show in quiet, if there is more to run: that takes longer.
        stops: asked before each run whether nobody waits for this any more. Then what comes out is not all of it.
    """
    proofs = [Proof(exercise) for exercise in exercises]
    collected = runs.collected(lanes, references(exercises))
    _read(runs.course, proofs, collected)
    cases = [case for proof in proofs if proof.exercise.id not in collected.problems
             for case in _cases(proof, _checks_of(collected, proof), seeds)]  # fmt: skip
    known = [case for case in cases if not case.busy and case.kind not in ("odd", "constant")]
    odd = [case for case in cases if not case.busy and case.kind in ("odd", "constant")]
    busy = [case for case in cases if case.busy]
    if count := runs.new([*known, *odd]):
        say(f"running {counted(count, 'submission')} on {counted(lanes.slots, 'lane')}")
    found = runs.run_all(lanes, known, stops)
    if runs.new([*odd, *busy]) and not stops():
        first(_concluded(proofs, collected, found))
    found += runs.run_all(lanes, odd, stops)
    if count := runs.new(busy):
        say(f"running {counted(count, 'submission')} while all cores are busy")
    found += runs.run_all(lanes, busy, stops, while_busy=count > 0)
    return _concluded(proofs, collected, found)


def _checks_of(collected: Collected, proof: Proof) -> list[Check]:
    return [check for check in collected.checks if check.exercise == proof.exercise.id]


def _runs_of(exercise: Exercise, seeds: int) -> int:
    """About how many runs prove an exercise."""
    functions: Sequence[str] = ()
    with suppress(OSError, SyntaxError, ValueError):  # which is told as a problem
        functions = functions_asked_for(exercise)
    known = seeds * (1 + len(exercise.right)) + min(seeds, WRONG_SEEDS) * len(exercise.wrong)
    return known + len(ODD) * len(functions) + len(CONSTANTS)


def _cases(proof: Proof, checks: Sequence[Check], seeds: int) -> list[Case]:
    """All runs that prove an exercise; a file that cannot be read is a problem of it, and none of the others."""
    try:
        if proof.exercise.reference is not None:  # each run would say that it is at fault itself
            ast.parse(proof.exercise.reference.read_bytes())
        return [*cases_of(proof, checks, seeds), *odd_cases(proof), *constant_cases(proof.exercise)]
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


def _concluded(
    proofs: Sequence[Proof], collected: Collected, found: Sequence[tuple[Case, GradedExercise]]
) -> list[Proof]:
    """Judge what the runs of exercises' files show; the proofs stay as reading left them."""
    concluded = []
    for read in proofs:
        proof, checks = Proof(read.exercise, problems=[*read.problems]), _checks_of(collected, read)
        graded = [(case, rows) for case, rows in found if case.exercise.id == proof.exercise.id]
        outcomes = [(case, [row.outcome for row in rows.checks]) for case, rows in graded]
        judge(proof, checks, outcomes)
        judge_messages(proof, checks, outcomes)
        proof.problems += margin_problems(proof.exercise, outcomes)
        proof.losses += losses_of(graded)
        proof.notes += alike_notes(proof, graded)
        proof.problems += [*loss_problems(proof), *constant_problems(proof, graded), *steady_problems(proof, graded)]
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
    stray = [f"{path}: {_remedy(path)}" for path in stray_files(course)]
    proofs[0].problems += [*stray, *unknown_topics(coverage)]


def _remedy(path: str) -> str:
    """What to do with a file that has no place in a course."""
    if path.endswith("/conftest.py"):
        return "no check reads this file; move its fixtures into the check file, and remove it"
    return "this file has no place in a course; remove it or mend its name"
