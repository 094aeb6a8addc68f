"""One submission → Report: the straight line of `grade`, `grade watch`, `grade ci`, `grade pack` and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from grader.grading.lanes import Engine
from grader.grading.plan import Finished, RunPlan, Work, not_run
from grader.grading.schedule import in_order, schedule
from grader.grading.store import Store, describe_machine
from grader.model import GradedExercise, Report, Score, Submission
from grader.model.messages import Level


def grade_submission(
    plan: RunPlan,
    submission: Submission,
    engine: Engine,
    store: Store | None = None,
    *,
    fresh: bool = False,
    on_finished: Callable[[Finished], None] = lambda finished: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Report:
    """Grade the exercises of one submission.

    Args:
        plan: what is graded, and how.
        submission: who handed in what.
        engine: lanes of this machine; see `open_lanes`.
        store: has the results of earlier runs, and gets the new ones.
        fresh: whether results of earlier runs are not used.
        on_finished: receives each exercise in the order of the course, then those that were repeated.
        on_wait: called every half second while nothing arrives.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    works = [Work(plan, exercise, submission) for exercise in plan.exercises]
    done: list[Finished] = []
    finished = schedule(works, engine, store, again=lambda graded: fresh, on_wait=on_wait)
    for one in in_order(works, finished):
        done.append(one)
        on_finished(one)
    return report_of(plan, submission, done)


def report_of(plan: RunPlan, submission: Submission, done: Iterable[Finished]) -> Report:
    """The report of a submission by what is finished; the points of exercises that still run are undecided."""
    ready = {one.work.exercise.id: one for one in done}
    rows = []
    for exercise in plan.exercises:
        if exercise.id in ready:
            rows.append(ready[exercise.id].graded)
        elif (graded := not_run(plan, exercise, submission)) is not None:
            rows.append(graded)
        else:
            waits, place = Score(0, exercise.points, exercise.points), submission.places.get(exercise.id)
            rows.append(GradedExercise(exercise, "started", (), waits, place=place))
    at, levels = datetime.now(UTC).isoformat(timespec="seconds"), (one.result.confinement for one in ready.values())
    return report_for(plan, submission.author, submission.authors, submission.digest, at, rows, levels)


def report_for(
    plan: RunPlan,
    author: str,
    authors: Sequence[str],
    digest: str,
    graded_at: str,
    exercises: Sequence[GradedExercise],
    levels: Iterable[str | None],
) -> Report:
    """A report with the machine described; `levels` are the levels of confinement that the exercises reached."""
    # The lowest of them; None where no student code was run.
    level = min((Level.of(word) for word in levels if word), default=None)
    return Report(
        course=plan.course.title,
        handin=plan.handin,
        author=author,
        digest=digest,
        graded_at=graded_at,
        exercises=tuple(exercises),
        environment=describe_machine(plan.setup, level),
        authors=tuple(authors),
    )
