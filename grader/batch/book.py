"""The journal as reports, with the points that the course gives now; and what the last regrade changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.batch.journal import Journal
from grader.grading.plan import RunPlan
from grader.grading.submission import report_for
from grader.model import Course, GradedExercise, Report


def report_of(plan: RunPlan, journal: Journal, author: str, authors: tuple[str, ...], digest: str) -> Report | None:
    """The report of a submission, with those exercises of the plan that were ever graded; None if none was."""
    found = {row.exercise: journal.result(row.result) for row in journal.current(author)}
    rows = [(exercise, found[exercise.id]) for exercise in plan.exercises if exercise.id in found]
    if not rows:
        return None
    at = max(saved.at for _, saved in rows)
    graded = [saved.outcomes.graded(exercise) for exercise, saved in rows]
    return report_for(plan, author, authors, digest, at, graded, (saved.confinement for _, saved in rows))


def reports(plan: RunPlan, journal: Journal) -> Iterator[Report]:
    """The reports of all submissions that were ever graded, by name, one after another."""
    for author, authors, digest in sorted(journal.submissions()):
        if report := report_of(plan, journal, author, authors, digest):
            yield report


@dataclass(frozen=True)
class CheckChange:
    """A check with another ending: what it was and what it is, each as a verdict and hundredths of a point.

    None means that there was no such check, or is none any more.
    """

    id: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None


@dataclass(frozen=True)
class Change:
    """One exercise of an author that was graded again.

    Attributes:
        author: whose.
        before: as it was graded before.
        after: as it counts now.
        why: it was graded again.
        checks: those with another ending.
    """

    author: str
    before: GradedExercise
    after: GradedExercise
    why: str
    checks: Sequence[CheckChange]


@dataclass(frozen=True)
class Diff:
    """What the last run changed that graded anything again.

    Attributes:
        at: when that run began; "" if there was none.
        changes: everything that was graded again, by author and in the order of the course.
    """

    at: str
    changes: Sequence[Change]


def last_regrade(course: Course, journal: Journal) -> Diff:
    """Compare what counts with what it replaced, in the last run in which anything was replaced."""
    rows = [row for row in journal.current() if row.replaces is not None]
    if not rows:
        return Diff("", ())
    run = max(row.run for row in rows)
    places = {exercise.id: place for place, exercise in enumerate(course.exercises)}
    known = [row for row in rows if row.run == run and row.exercise in places]
    changes = []
    for row in sorted(known, key=lambda row: (row.author, places[row.exercise])):
        assert row.replaces is not None
        exercise = course.exercises[places[row.exercise]]
        old, new = journal.result(row.replaces), journal.result(row.result)
        before, after = old.outcomes.graded(exercise), new.outcomes.graded(exercise)
        changes.append(Change(row.author, before, after, old.key.why_not(new.key), tuple(_checks(before, after))))
    return Diff(journal.started(run), changes)


def _checks(before: GradedExercise, after: GradedExercise) -> Iterator[CheckChange]:
    old = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in before.checks}
    new = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in after.checks}
    for id in dict.fromkeys((*new, *old)):
        if old.get(id) != new.get(id):
            yield CheckChange(id, old.get(id), new.get(id))
