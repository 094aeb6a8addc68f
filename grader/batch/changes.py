"""What a regrade changed, and what staff changed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.batch.journal import Journal
from grader.batch.overrides import staff_decisions
from grader.batch.policy import Rules
from grader.batch.reports import report_from_journal
from grader.grading.plan import RunPlan
from grader.model import Course, GradedExercise
from grader.report.gradebook import rules_without_points

CheckEnding = tuple[str, int] | None
"""How a check ended: its verdict, and hundredths of a point; None where there is no such check."""


@dataclass(frozen=True)
class RegradedExercise:
    """One exercise of an author that was graded again.

    Attributes:
        author: the author.
        before: the exercise as it was graded before.
        after: the exercise as it was graded now.
        why: the reason why it was graded again.
    """

    author: str
    before: GradedExercise
    after: GradedExercise
    why: str

    @property
    def changed_checks(self) -> list[tuple[str, CheckEnding, CheckEnding]]:
        """Return each check that ended differently, with how it ended before and after.

        `("shape", ("passed", 500), ("failed", 0))` is the check `shape`, which passed with 5 points and fails now. A
        new check has None for before.

        Returns:
            Triples: the id of the check, its ending before, and its ending after.
        """
        old, new = (
            {row.check.id: (row.verdict.value, row.score.earned) for row in graded.checks}
            for graded in (self.before, self.after)
        )
        return [(id, old.get(id), new.get(id)) for id in dict.fromkeys((*new, *old)) if old.get(id) != new.get(id)]

    @property
    def has_changed_points(self) -> bool:
        """Return whether the points of the exercise, or of any check, changed."""
        points = [(before or ("", 0))[1] != (after or ("", 0))[1] for _, before, after in self.changed_checks]
        return any(points) or self.before.score != self.after.score

    @property
    def differs(self) -> bool:
        """Return whether the score of the exercise, or the ending of any check, changed."""
        return bool(self.changed_checks) or self.before.score != self.after.score


def last_regrade(course: Course, journal: Journal) -> tuple[str, list[RegradedExercise]]:
    """Return the exercises that the last regrade graded again, each before and after.

    The last regrade is the last run with a new result of an exercise that had one before. A lower score that does not
    count because of `never_lower` is compared with the score that counts.

    Returns:
        The time when that run began, "" without such a run; and the exercises, by author and in the order of the
        course.
    """
    rows = [(row, row.replaces, row.result) for row in journal.current() if row.replaces is not None]
    rows += [(row, row.result, number) for number, row in journal.results_not_counted()]
    if not rows:
        return "", []
    run = max(row.run for row, _, _ in rows)
    places = {exercise.id: place for place, exercise in enumerate(course.exercises)}
    known = [each for each in rows if each[0].run == run and each[0].exercise in places]
    changes = []
    for row, earlier, later in sorted(known, key=lambda each: (each[0].author, places[each[0].exercise])):
        exercise = course.exercises[places[row.exercise]]
        old, new = journal.result(earlier), journal.result(later)
        why = old.key.first_difference(new.key) + (
            "; not counted, because of --never-lower" if later != row.result else ""
        )
        changes.append(RegradedExercise(row.author, journal.graded(old, exercise), journal.graded(new, exercise), why))
    return journal.begun_at(run), changes


def waiting_for_staff(plan: RunPlan, journal: Journal, rules: Rules) -> Counter[tuple[str, str]]:
    """Count the submissions that still need points from staff, by exercise and rule.

    Args:
        plan: the plan, with its exercises.
        journal: the journal of the batch.
        rules: the rules, with what staff entered.

    Returns:
        A counter such as `Counter({("04-2", "C4"): 5})`: the number of submissions, by the number of an exercise and
        the id of a rule.
    """
    reports = (report_from_journal(plan, journal, record, rules) for record in journal.submissions())
    return Counter(
        (graded.exercise.number, rule)
        for report in reports
        for graded in (report.exercises if report is not None else ())
        for rule in rules_without_points(graded)
    )


def exercises_changed_by_staff(plan: RunPlan, journal: Journal, rules: Rules) -> Iterator[RegradedExercise]:
    """Yield each exercise whose points staff changed, by an override or a void check.

    A check is void if staff declared that everybody gets its points. `before` has the points that the checks alone
    award, and `after` those that count.

    Args:
        plan: the plan: what is graded.
        journal: the journal of the batch.
        rules: overrides, people and deadlines.
    """
    alone = replace(plan, exercises=[replace(exercise, void=()) for exercise in plan.exercises])
    for record in journal.submissions():
        report = report_from_journal(plan, journal, record, rules)
        rows = list(staff_decisions(report)) if report is not None else []
        judged = report_from_journal(alone, journal, record, Rules(plan.course)) if rows else None
        if report is not None and judged is not None:
            for before, after in zip(judged.exercises, report.exercises, strict=True):
                why = dict.fromkeys(why for graded, _, why in rows if graded is after)
                change = RegradedExercise(record.author, before, after, "; ".join(why))
                if change.has_changed_points:  # a void check gives nothing to somebody who handed in nothing
                    yield change
