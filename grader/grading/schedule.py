"""Grade one submission from start to end, for `grade`, `grade watch`, `grade ci`, `grade pack` and notebooks.

Below it is the one scheduler: exercises of submissions go to lanes or to a cluster, and results come back as they
arrive.

`schedule` retries what has no final result, at the end and one at a time, while nothing else of ours runs:

- starved: the lane's deadline ended the work after it had waited for a core. It is graded again from the beginning.
- inconclusive: a check could not judge speed. Only its inconclusive checks are repeated, twice at most.
- broken: a check of ours failed. It is graded again once, until three works of its exercise in a row stayed broken:
  then the checks are at fault, and no accident.

Below it, `runner.pool`, `runner.lane` and `cluster` retry only after a process of ours was lost or did not start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace

from grader.grading.lanes import Executor
from grader.grading.outcomes import WorkResult, is_broken, is_inconclusive
from grader.grading.plan import RunPlan, Work, not_run
from grader.grading.store import Store, describe_machine, package_digest, utc_now
from grader.model import GradedExercise, Report, Score, Submission
from grader.model.messages import Level
from grader.model.score import final_score_of

_AHEAD = 2
"""So many works wait for each slot, so that no slot is idle while the next submission is read."""

_GIVEN_UP = 3
_LOOK_S = 0.5


def grade_submission(
    plan: RunPlan,
    submission: Submission,
    executor: Executor,
    store: Store | None = None,
    *,
    fresh: bool = False,
) -> Report:
    """Grade the exercises of one submission, and return its report.

    Args:
        plan: the run plan.
        submission: the submission.
        executor: the lanes of this machine, in a `Runtime`; each exercise is reported to its progress.
        store: the store with the results of earlier runs; new results are saved in it.
        fresh: True if results of earlier runs are not used.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    works = [Work(plan, exercise, submission) for exercise in plan.exercises]
    done: dict[str, WorkResult] = {}
    finished = schedule(works, executor, store, fresh=fresh)
    for one in in_order(works, finished):
        done[one.work.exercise.id] = one
        executor.progress.graded(one.graded, one.confinement, saved=one.saved)
    return report_of_submission(plan, submission, done)


def report_of_submission(plan: RunPlan, submission: Submission, done: Mapping[str, WorkResult]) -> Report:
    """Return the report of a submission from the results so far.

    The points of exercises that still run are undecided.

    Args:
        plan: the run plan.
        submission: the submission that is graded.
        done: the results so far, by exercise id.
    """
    rows = []
    for exercise in plan.exercises:
        graded = done[exercise.id].graded if exercise.id in done else not_run(plan, exercise, submission)
        if graded is None:
            waits = Score(0, exercise.points, exercise.points)
            graded = GradedExercise(exercise, "started", (), waits, place=submission.files_of(exercise).place)
        rows.append(graded)
    levels = [one.confinement for one in list(done.values())]  # others may come meanwhile, in another thread
    return assemble_report(plan, submission.author, submission.authors, submission.digest, utc_now(), rows, levels)


def assemble_report(
    plan: RunPlan,
    author: str,
    authors: Sequence[str],
    digest: str,
    graded_at: str,
    exercises: Sequence[GradedExercise],
    levels: Iterable[str | None],
) -> Report:
    """Return a report of graded exercises, with a description of the machine.

    Args:
        plan: the run plan.
        author: the author of the submission.
        authors: the members, if the author is a group.
        digest: the digest of the files.
        graded_at: the time, as text.
        exercises: the graded exercises.
        levels: the level of confinement of each exercise; None where no student code was run.
    """
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
        policy=final_score_of(
            {graded.exercise.id: graded.score for graded in exercises}, plan.course.handin(plan.handin)
        ),
    )


def schedule(
    works: Iterable[Work],
    executor: Executor,
    store: Store | None = None,
    *,
    again: Callable[[GradedExercise], bool] = lambda graded: False,
    fresh: bool = False,
) -> Iterator[WorkResult]:
    """Grade works, and yield each result as it arrives.

    A work that must be repeated has two results: the first one is not final.

    Args:
        works: the works; the next one is read only when there is room for it among the submitted ones.
        executor: lanes of this machine, or a cluster.
        store: the store with the results of earlier runs; new results are saved in it.
        again: the function that returns True for a saved result whose exercise must be graded again.
        fresh: True to grade all again, without a lookup in the store.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    run = _Run(executor, store)
    try:
        for place, work in enumerate(works):
            saved = store.find(work) if store is not None and not fresh else None
            if saved is not None and not again(saved.graded):
                yield run.mark_if_repeated(place, saved)
            elif (graded := not_run(work.plan, work.exercise, work.submission)) is not None:
                yield run.mark_if_repeated(place, run.save(WorkResult(work, graded)))
            else:
                while len(run.submitted) >= _AHEAD * executor.slots:
                    yield from run.take_finished()
                if store is not None:
                    store.keys.judge_digest(work.exercise)  # as its files are before a lane reads them
                run.submitted[executor.submit(work)] = place
                if store is not None:
                    package_digest()  # for the key of the result: it is read while the lane works
        while run.submitted:
            yield from run.take_finished()
        yield from run.repeat_all()
    finally:  # nobody waits for what is still under way
        for future in run.submitted:
            future.cancel()


def in_order(works: Iterable[Work], finished: Iterable[WorkResult]) -> Iterator[WorkResult]:
    """Yield final results in the order of their works.

    If the second work ends first, its result waits for that of the first. The results of repeated works come last, as
    they arrive.

    Args:
        works: the works, in order.
        finished: the results of `schedule`, final or not.
    """
    waiting, ready = list(works), {}
    for one in finished:
        if one.work not in waiting:
            if one.final:
                yield one
            continue
        ready[one.work] = one
        while waiting and waiting[0] in ready:
            if (first := ready.pop(waiting.pop(0))).final:
                yield first


class _Run:
    """The state of one call of `schedule`."""

    def __init__(self, executor: Executor, store: Store | None) -> None:
        self.submitted: dict[Future[WorkResult], int] = {}
        self._executor = executor
        self._store = store
        self._later: list[tuple[int, WorkResult]] = []
        self._stayed_broken: Counter[str] = Counter()

    def take_finished(self) -> Iterator[WorkResult]:
        """Wait until a work ends, half a second at most; yield the results of all that ended.

        They come in the order in which the works were submitted.
        """
        done, _ = wait(self.submitted, _LOOK_S, FIRST_COMPLETED)
        self._executor.progress.still_waiting()
        for future in [future for future in self.submitted if future in done]:
            place, one = self.submitted.pop(future), future.result()
            # A starved one is not a result yet.
            yield self.mark_if_repeated(place, one if self._was_starved(one) else self.save(one))

    def save(self, one: WorkResult) -> WorkResult:
        """Save a new result in the store, and return it with its number there.

        Without a store, return it unchanged.
        """
        return replace(one, id=self._store.save(one)) if self._store is not None else one

    def mark_if_repeated(self, place: int, one: WorkResult) -> WorkResult:
        """Return a result; mark it as not final if its work must be repeated.

        Such a result is kept for `repeat_all`.

        Args:
            place: the index of the work among all works; repeated works run in this order.
            one: the result.
        """
        broken = is_broken(one.graded) and not one.saved
        if not (self._was_starved(one) or is_inconclusive(one.graded) or broken):
            return one
        self._later.append((place, replace(one, final=False)))
        return self._later[-1][1]

    def repeat_all(self) -> Iterator[WorkResult]:
        """Repeat works one at a time, and yield their final results.

        These are the works that were starved, inconclusive or broken.
        """
        return (self._repeat(one) for _, one in sorted(self._later, key=lambda row: row[0]))

    def _repeat(self, one: WorkResult) -> WorkResult:
        work, starved, id = one.work, self._was_starved(one), one.work.exercise.id
        broken = not (starved or is_inconclusive(one.graded))
        if broken and self._stayed_broken[id] >= _GIVEN_UP:
            return replace(one, final=True)
        if starved or broken:
            one = self._run_alone(work)
        if broken:
            self._stayed_broken[id] = self._stayed_broken[id] + 1 if is_broken(one.graded) else 0
        if is_inconclusive(one.graded):
            one = replace(self._run_alone(replace(work, before=one.graded)), work=work)
        return self.save(one)

    def _run_alone(self, work: Work) -> WorkResult:
        future = self._executor.submit(work)
        while not wait([future], _LOOK_S).done:
            self._executor.progress.still_waiting()
        return future.result()

    def _was_starved(self, one: WorkResult) -> bool:
        """Return whether a work waited for a core while other lanes of ours ran.

        Such a work must be repeated.
        """
        return one.starved and self._executor.slots > 1
