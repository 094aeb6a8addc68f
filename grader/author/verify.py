"""The flow of `grade verify`: read an exercise, run its answers with all seeds, and judge what they showed.

Right answers must pass with every seed, and the check that a wrong answer names must catch it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.author.cases import Case, about_how_many, cases_of
from grader.author.judge import Proof, judge
from grader.author.kept import Kept
from grader.author.runs import Runs
from grader.author.text import collecting_problem, course_problems, source_problems, text_problems
from grader.course.topics import Coverage
from grader.model import Course, Exercise
from grader.model.messages import Collected, Setup
from grader.model.score import counted
from grader.runner.pool import Pool, cores, open_pool

_RUNS_FOR_A_LANE = 40


def verify(
    course: Course,
    exercises: Sequence[Exercise],
    setup: Setup,
    seeds: int,
    say: Callable[[str], None],
    lanes_wanted: int | None = None,
    ran: Callable[[int, int], None] = lambda count, of: None,
    kept: Kept | None = None,
) -> list[Proof]:
    """Prove exercises of a course.

    Args:
        course: the whole course.
        exercises: those to prove.
        setup: how they are run; the seeds are our own.
        seeds: how many seeds a right answer must pass with.
        say: prints what goes on, a line at a time.
        lanes_wanted: how many are run at once; by default as many as there are cores.
        ran: called with how many submissions ran, of how many that run now.
        kept: what earlier commands showed, if that need not be run again.

    Raises:
        StartError: a process of ours did not start.
    """
    ready, proofs = read_checks(exercises)
    if ready:
        # A lane costs as much as many short runs: it has PyTorch to import.
        runs = sum(about_how_many(item, seeds) for item in ready) - (kept.count(ready) if kept is not None else 0)
        lanes = min(len(cores()), 1 + max(0, runs) // _RUNS_FOR_A_LANE)
        with open_pool(ready, setup, lanes_wanted or lanes) as pool:
            proofs += prove(pool, ready, Runs(course, setup, ran=ran, kept=kept), seeds, say)
    return sorted(proofs, key=lambda proof: exercises.index(proof.exercise))


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
        say: prints what goes on, a line at a time.
        first: gets what the known answers show in quiet, if there is more to run: that takes longer.
        stops: called before each run; True ends it early, and then the proofs rest on a part of the runs.
    """
    problems, cases = _read(runs.course, exercises, runs.checks(pool, exercises), seeds)
    known = [case for case in cases if case.is_known and not case.busy]
    others = [case for case in cases if not case.is_known]
    busy = [case for case in cases if case.busy]
    if count := runs.new([*known, *others]):
        say(f"running {counted(count, 'submission')} on {counted(pool.slots, 'lane')}")
    results = runs.run_all(pool, known, stops)

    def proofs() -> list[Proof]:
        return [
            judge(exercise, problems[exercise.id], [run for run in results if run[0].exercise.id == exercise.id])
            for exercise in exercises
        ]

    if runs.new([*others, *busy]) and not stops():
        first(proofs())
    results += runs.run_all(pool, others, stops)
    if count := runs.new(busy):
        say(f"running {counted(count, 'submission')} while all cores are busy")
    results += runs.run_all(pool, busy, stops, while_busy=count > 0)
    if not stops():
        runs.keep(exercises, results)
    return proofs()


def _read(
    course: Course, exercises: Sequence[Exercise], collected: Collected, seeds: int
) -> tuple[dict[str, list[str]], list[Case]]:
    """The problems that reading shows, by exercise, and what is to be run; those of the course are the first one's."""
    coverage, cases = Coverage.of(course), list[Case]()
    problems: dict[str, list[str]] = {exercise.id: [] for exercise in exercises}
    problems[exercises[0].id] += course_problems(course, coverage)
    for exercise in exercises:
        own, checks = problems[exercise.id], [check for check in collected.checks if check.exercise == exercise.id]
        own += text_problems(exercise, checks, coverage.topics)
        if problem := collected.problems.get(exercise.id):
            own.append(collecting_problem(exercise, problem))
        else:
            cases += cases_of(exercise, checks, seeds, own)
    return problems, cases
