"""The journal as reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.batch.comments import unused_comments, with_comments
from grader.batch.journal import Journal, SubmissionRecord
from grader.batch.overrides import unused_overrides
from grader.batch.policy import Rules
from grader.grading.plan import RunPlan
from grader.grading.schedule import assemble_report
from grader.model import Report
from grader.model.score import join_names, pluralize
from grader.report.people import absent_people


def report_from_journal(plan: RunPlan, journal: Journal, record: SubmissionRecord, rules: Rules) -> Report | None:
    """Return the report of a submission, made of the results that count.

    It has the exercises of the plan that were graded. It is None if none of them was graded.

    Args:
        plan: the plan: what is graded.
        journal: the journal of the batch.
        record: the submission's row of the journal.
        rules: overrides, people and deadlines.
    """
    results = {row.exercise: journal.result(row.result) for row in journal.current(record.author)}
    rows = [(exercise, results[exercise.id]) for exercise in plan.exercises if exercise.id in results]
    if not rows:
        return None
    at = max(saved.at for _, saved in rows)
    graded = [journal.graded(saved, exercise) for exercise, saved in rows]
    if rules.comments:
        names = rules.names(record)
        graded = [
            with_comments(one, rules.comments, names, saved.path or "", saved.text or b"")
            for (_, saved), one in zip(rows, graded, strict=True)
        ]
    # As the checks alone judge it; where no check is void, that is what was graded.
    alone = (
        journal.graded(saved, replace(exercise, void=())) if exercise.void else one
        for (exercise, saved), one in zip(rows, graded, strict=True)
    )
    raw = {one.exercise.id: one.score.earned for one in alone}
    levels = (saved.confinement for _, saved in rows)
    return rules.with_final_score(
        assemble_report(plan, record.author, record.authors, record.digest, at, graded, levels), raw, record
    )


def reports(plan: RunPlan, journal: Journal, rules: Rules) -> Iterator[Report]:
    """Yield the reports of all submissions that were ever graded, sorted by author.

    Args:
        plan: the plan: what is graded.
        journal: the journal of the batch.
        rules: overrides, people and deadlines.
    """
    for record in journal.submissions():
        if report := report_from_journal(plan, journal, record, rules):
            yield report


def notes_for_staff(plan: RunPlan, journal: Journal, rules: Rules) -> Iterator[str]:
    """Yield sentences about what staff should correct.

    They are about rows of staff's tables that have no effect, and about the roster: who is missing from it, and who
    handed in nothing.

    Args:
        plan: the plan: what is graded.
        journal: the journal of the batch.
        rules: overrides, people and deadlines.
    """
    records = journal.submissions()
    called = {one: rules.names(one) for one in records}
    meant = {row.author for row in rules.overrides}
    named = [one for one in records if called[one] & meant]
    pairs = [(called[one], report) for one in named if (report := report_from_journal(plan, journal, one, rules))]
    yield from unused_overrides(rules.overrides, pairs, rules.course)
    yield from unused_comments(rules.comments, frozenset().union(*called.values()), rules.course)
    yield from rules.unknown_names(frozenset().union(*called.values()))
    people = rules.people
    if not people.persons:
        return
    authors = [name for one in records for name in one.members]
    if absent := sum(1 for _ in absent_people(people, authors)):
        yield f"{absent} of {pluralize(len(people.persons), 'person')} on the roster handed in nothing."
    if unknown := [name for name in authors if people.person_of(name) is None]:
        yield f"{pluralize(len(unknown), 'author')} of submissions cannot be found on the roster: {join_names(unknown)}"
    if others := people.authors_named_differently(authors):
        yield (
            f"{pluralize(len(others), 'submission')} with a name that differs from the roster's for the same number: "
            f"{join_names(others)}. If these are groups, name the table of groups (People, Groups, Export) as "
            "--roster, so that each member gets the score."
        )
    if people.unread:
        dates = f"{pluralize(len(people.unread), 'date')} of the roster, such as {people.unread[0]!r}, cannot be read"
        yield f"{dates}: export the roster again with English as your language in Moodle."
