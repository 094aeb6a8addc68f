"""What a regrade changed: scores before and after, by author and check, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.batch.journal import Journal
from grader.grading.graded import from_told
from grader.model import Course, GradedExercise


@dataclass(frozen=True)
class CheckChange:
    """One check that ended otherwise: what it was and what it is, each as a verdict and hundredths of a point.

    None stands for a check that there was not, or is no more.
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
        checks: that ended otherwise.
    """

    author: str
    before: GradedExercise
    after: GradedExercise
    why: str
    checks: Sequence[CheckChange]


@dataclass(frozen=True)
class Diff:
    """What the last run that graded anything again changed.

    Attributes:
        at: when that began; "" if there was none.
        changes: all that was graded again, by author and in the course's order.
    """

    at: str
    changes: Sequence[Change]


def last_regrade(course: Course, journal: Journal) -> Diff:
    """Compare what counts with what it took the place of, in the last run in which it did so."""
    seats = [seat for seat in journal.seats() if seat.replaces is not None]
    if not seats:
        return Diff("", ())
    run = max(seat.run for seat in seats)
    places = {exercise.id: place for place, exercise in enumerate(course.exercises)}
    known = [seat for seat in seats if seat.run == run and seat.exercise in places]
    changes = []
    for seat in sorted(known, key=lambda seat: (seat.author, places[seat.exercise])):
        assert seat.replaces is not None
        exercise = course.exercises[places[seat.exercise]]
        old, new = journal.entry(seat.replaces), journal.entry(seat.outcome)
        before, after = from_told(exercise, old.told), from_told(exercise, new.told)
        changes.append(Change(seat.author, before, after, old.key.why_not(new.key), tuple(_checks(before, after))))
    return Diff(journal.started(run), changes)


def _checks(before: GradedExercise, after: GradedExercise) -> Iterator[CheckChange]:
    old = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in before.checks}
    new = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in after.checks}
    for id in dict.fromkeys((*new, *old)):
        if old.get(id) != new.get(id):
            yield CheckChange(id, old.get(id), new.get(id))
