"""What of a course must be run: right answers pass with every seed, wrong ones are caught by the check they name."""

from __future__ import annotations

import ast
import os
import queue
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.course import read_topics, solution_files, stray_files
from grader.grading import open_lanes
from grader.lane import Lane
from grader.model import Check, Course, Exercise, Outcome, Verdict
from grader.quiet import settle
from grader.verify.proof import Proof, shown_folder
from grader.verify.text import text_problems

SEEDS = 20
"""How many seeds a right answer must pass with. Of these, and of a wrong answer's, the second half while all cores are
busy: no verdict may hang on the load."""

_WRONG_SEEDS = 5
_LONGEST_S = 10.0
_LEAST_WRONG, _LEAST_RIGHT = 2, 1
_CAUGHT_BY = re.compile(r"^caught by:\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class _Case:
    """One file to run."""

    exercise: Exercise
    kind: str  # starter, reference, right or wrong
    path: Path
    seed: int
    caught_by: str = ""
    busy: bool = False  # while all cores are


def verify(
    course: Course,
    exercises: Sequence[Exercise],
    start: str,
    seeds: int,
    say: Callable[[str], None],
    device: str = "sim",
) -> list[Proof]:
    """Prove exercises of a course.

    Args:
        course: the whole course.
        exercises: those to prove.
        start: "fork" or "spawn".
        seeds: how many seeds a right answer must pass with.
        say: told what goes on, a line at a time.
        device: what checks of devices run on: "sim" or "cuda".

    Raises:
        StartError: a process of ours did not start.
    """
    proofs = {exercise.id: Proof(exercise) for exercise in exercises}
    lanes_wanted = os.cpu_count() or 1
    with open_lanes(exercises, start, lanes_wanted, device=device) as lanes:
        catalog = lanes[0].catalog
        topics = read_topics(course)
        for proof in proofs.values():
            id = proof.exercise.id
            if id in catalog.problems:
                text = catalog.problems[id].strip().split("\n")[-1]
                proof.problems.append(
                    f"{shown_folder(proof.exercise)}: its checks cannot be collected; mend them: {text}"
                )
            proof.problems += text_problems(proof.exercise, catalog.checks[id], topics)
        cases = [case for proof in proofs.values() if proof.exercise.id not in catalog.problems
                 for case in _cases(proof, catalog.checks[proof.exercise.id], seeds)]  # fmt: skip
        quiet = [case for case in cases if not case.busy]
        busy = [case for case in cases if case.busy]
        say(f"running {len(quiet)} submissions on {lanes_wanted} lanes")
        found = _run_all(lanes, quiet)
        if busy:
            say(f"running {len(busy)} submissions while all cores are busy")
            with _busy_cores(lanes_wanted):
                found += _run_all(lanes, busy)
        found = [(case, _settled(lanes[0], case, outcomes)) for case, outcomes in found]
        for proof in proofs.values():
            mine = [(case, outcomes) for case, outcomes in found if case.exercise.id == proof.exercise.id]
            _judge(proof, catalog.checks[proof.exercise.id], mine)
    stray = [f"{path}: this file has no place in a course; remove it or mend its name" for path in stray_files(course)]
    if stray and proofs:
        next(iter(proofs.values())).problems += stray
    return list(proofs.values())


def _seeds(count: int) -> Iterator[tuple[int, bool]]:
    """Seeds, and whether all cores are busy then: in the second half."""
    return ((seed, seed >= (count + 1) // 2) for seed in range(count))


def _cases(proof: Proof, checks: Sequence[Check], seeds: int) -> Iterator[_Case]:
    exercise = proof.exercise
    if exercise.starter.is_file():
        yield _Case(exercise, "starter", exercise.starter, 0)
    right = solution_files(exercise, "right")
    wrong = solution_files(exercise, "wrong")
    where = f"solutions/{exercise.module}/{exercise.id}"
    if len(right) < _LEAST_RIGHT:
        proof.problems.append(f"{where}/right: there is no other right answer; write at least {_LEAST_RIGHT}")
    if len(wrong) < _LEAST_WRONG:
        proof.problems.append(f"{where}/wrong: there are {len(wrong)} wrong answers; write at least {_LEAST_WRONG}")
    for path in ([exercise.reference] if exercise.reference else []) + right:
        kind = "reference" if path == exercise.reference else "right"
        yield from (_Case(exercise, kind, path, seed, busy=busy) for seed, busy in _seeds(seeds))
    ids = [check.id for check in checks]
    for path in wrong:
        caught_by = _named_check(path)
        if caught_by is None:
            text = "its docstring must end with  caught by: <check>  and begin with the sentence that a student is told"
            proof.problems.append(f"{where}/wrong/{path.name}: {text}")
        elif caught_by not in ids:
            text = f"there is no check {caught_by!r}; the checks are {', '.join(ids)}"
            proof.problems.append(f"{where}/wrong/{path.name}: caught by: {text}")
        else:
            few = _seeds(min(seeds, _WRONG_SEEDS))
            yield from (_Case(exercise, "wrong", path, seed, caught_by, busy) for seed, busy in few)


def _named_check(path: Path) -> str | None:
    """The check that a wrong answer's docstring names, if it also has a sentence for the student."""
    try:
        doc = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    except SyntaxError:
        return None
    found = _CAUGHT_BY.search(doc)
    return found[1] if found and not doc.startswith("caught by:") else None


def _run_all(lanes: Sequence[Lane], cases: Sequence[_Case]) -> list[tuple[_Case, Sequence[Outcome]]]:
    free: queue.Queue[Lane] = queue.Queue()
    for lane in lanes:
        free.put(lane)

    def run(case: _Case) -> tuple[_Case, Sequence[Outcome]]:
        lane = free.get()
        try:
            files = {f"{case.exercise.id}.py": case.path.read_bytes()}
            return case, lane.run(case.exercise, files, case.seed).outcomes
        finally:
            free.put(lane)

    with ThreadPoolExecutor(len(lanes)) as threads:
        return list(threads.map(run, cases))


def _settled(lane: Lane, case: _Case, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """What was inconclusive, repeated on a quiet machine, as it is when a submission is graded."""
    files = {f"{case.exercise.id}.py": case.path.read_bytes()}
    return settle(lane, case.exercise, files, case.seed, outcomes)


@contextmanager
def _busy_cores(count: int) -> Iterator[None]:
    """Keep every core busy with processes that do nothing else."""
    spin = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    spinners = [subprocess.Popen(spin, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def _judge(proof: Proof, checks: Sequence[Check], found: Sequence[tuple[_Case, Sequence[Outcome]]]) -> None:
    judges = {"starter": _judge_starter, "reference": _judge_right, "right": _judge_right, "wrong": _judge_wrong}
    told: set[tuple[Path, str]] = set()
    for case, outcomes in found:
        if case.kind == "reference":
            proof.seconds = max(proof.seconds, sum(outcome.seconds for outcome in outcomes))
        problem, unproved = judges[case.kind](case, checks, outcomes)
        good, total = proof.counts.get(case.kind, (0, 0))
        proof.counts[case.kind] = (good + (problem is None), total + 1)
        if unproved and case.path.name not in proof.unproved:
            proof.unproved.append(case.path.name)
        if problem and (case.path, problem) not in told:
            told.add((case.path, problem))
            seed = "" if case.kind == "starter" else f" (first with --seed {case.seed})"
            proof.problems.append(f"{_place(case)}: {problem}{seed}")
    if proof.seconds > _LONGEST_S:
        text = f"the reference takes {proof.seconds:.1f} s; make inputs smaller, {_LONGEST_S:g} s is the limit"
        proof.problems.append(f"{shown_folder(proof.exercise)}: {text}")


Judged = tuple[str | None, bool]


def _judge_starter(case: _Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    del case, checks
    broken = _broken(outcomes)
    if broken is None and all(outcome.verdict is Verdict.PASSED or not outcome.verdict.decided for outcome in outcomes):
        return "the starter passes every check; leave something for the student to do, or mend the checks", False
    return broken, False


def _judge_right(case: _Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    what = "the reference" if case.kind == "reference" else "this right answer"
    if (broken := _broken(outcomes)) is not None:
        return broken, False
    for check, outcome in zip(checks, outcomes, strict=True):
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            reason = (outcome.detail or outcome.message).split("\n")[0]
            return f"{what} does not pass check_{check.id} ({reason}); mend one of the two", False
        if outcome.verdict is Verdict.INCONCLUSIVE:
            return f"{what} gets no verdict from check_{check.id}; make its measurement clearer", False
    return None, False


def _judge_wrong(case: _Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    if (broken := _broken(outcomes)) is not None:
        return broken, False
    named = next(outcome for check, outcome in zip(checks, outcomes, strict=True) if check.id == case.caught_by)
    if named.verdict is Verdict.NOT_RUN:
        return None, True
    if named.verdict is Verdict.INCONCLUSIVE:
        return f"it gets no verdict from check_{case.caught_by}; make its measurement clearer", False
    if named.verdict is Verdict.SKIPPED:
        reason = named.message.split("\n")[0]
        return f"check_{case.caught_by} could not judge it ({reason}; {_others(outcomes)}); name another", False
    if named.verdict is Verdict.PASSED:
        text = f"check_{case.caught_by} does not catch this wrong answer ({_others(outcomes)})"
        return f"{text}; mend the check, or name another", False
    return None, False


def _others(outcomes: Sequence[Outcome]) -> str:
    """Which checks did catch a wrong answer."""
    caught = [outcome.check for outcome in outcomes if outcome.verdict in (Verdict.FAILED, Verdict.CRASHED)]
    return f"{', '.join(caught)} did" if caught else "no check did"


def _broken(outcomes: Sequence[Outcome]) -> str | None:
    for outcome in outcomes:
        if outcome.verdict is Verdict.BROKEN:
            reason = outcome.detail.strip().split("\n")[0]
            return f"check_{outcome.check} is at fault itself ({reason}); mend it"
    return None


def _place(case: _Case) -> str:
    exercise = case.exercise
    if case.kind == "starter":
        return f"{shown_folder(exercise)}/{exercise.id}.py"
    inner = "" if case.kind == "reference" else f"{case.kind}/"
    return f"solutions/{exercise.module}/{exercise.id}/{inner}{case.path.name}"
