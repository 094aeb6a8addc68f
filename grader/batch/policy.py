"""What counts of a report in the end: days late, grace days, extra credit, what is dropped, what staff decided."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.batch.comments import Comment
from grader.batch.journal import SubmissionRecord
from grader.batch.lateness import late_text, lateness, needed_grace, penalty
from grader.batch.overrides import Override, staff_decisions, with_overrides
from grader.course.layout import COURSE_FILE
from grader.grading.outcomes import VOID
from grader.intake.contents import Handed
from grader.model import Course, FinalScore, HandIn, Policy, Report
from grader.model.score import Total, points_text, total_of, total_parts
from grader.report.names import fold_name
from grader.report.people import NOBODY, People, Person
from grader.report.safe import for_csv


@dataclass(frozen=True)
class Rules:
    """The rules that make final scores of the results in a folder; their files are read once.

    Attributes:
        course: the course, which has the policy.
        handin: the hand-in that was graded, or None.
        overrides: the overrides of staff.
        people: the people on the roster; nobody without one.
        over_term: final scores by author, if the grace days of all hand-ins are known; else None.
        comments: the comments of staff, on lines of code.
    """

    course: Course
    handin: HandIn | None = None
    overrides: Sequence[Override] = ()
    people: People = NOBODY
    over_term: Mapping[str, FinalScore] | None = None
    comments: Sequence[Comment] = ()

    def platform_numbers(self) -> frozenset[str]:
        """Return the numbers that a platform gave the people on the roster.

        The result is empty if the roster does not come from a platform.
        """
        people = self.people
        return frozenset(person.author for person in people.persons if people.kind != "plain")

    def persons(self, record: SubmissionRecord) -> list[Person]:
        """Return the people on the roster who are authors of a submission."""
        return [person for name in record.members if (person := self.people.person_of(name))]

    def names(self, record: SubmissionRecord) -> frozenset[str]:
        """Return all names by which tables of staff may call the authors of a submission.

        These are the names in the gradebook and those on the roster. They are folded: `Ada  Lovelace` becomes
        `ada lovelace`.
        """
        own = frozenset(fold_name(text) for name in (record.author, *record.authors) for text in (name, for_csv(name)))
        return own.union(*map(self.people.names_of, self.persons(record)))

    def unknown_names(self, names: Collection[str]) -> Iterator[str]:
        """Yield a sentence for each name in course.yaml that no author has.

        The names are those in `extensions` and `late_days` of the hand-in. An example is "course.yaml:
        handins.hw1.extensions: no author is called eve".

        Args:
            names: all names of the authors of submissions; those of people on the roster are known as well.
        """
        if (handin := self.handin) is not None:
            known = frozenset(names).union(*map(self.people.names_of, self.people.persons))
            for key, own in (("extensions", handin.extensions), ("late_days", handin.late_days)):
                for name in own:
                    if fold_name(name) not in known:
                        yield f"{COURSE_FILE}: handins.{handin.id}.{key}: no author is called {name}"

    def with_members(self, handed: Handed) -> Handed:
        """Return a submission with all members of its group as authors.

        If the roster lacks the group, the submission is returned as it is. Otherwise the number of the submission is
        not used any more: on Moodle it is the team's, and a participant may have the same number; on Canvas it is one
        member's.
        """
        team = self.people.team_members(handed.name, handed.key) if handed.name else ()
        members = tuple(person.author for person in team)
        return replace(handed, authors=members, name="") if members else handed

    def with_final_score(self, report: Report, raw: Mapping[str, int], record: SubmissionRecord) -> Report:
        """Return the report with its final score.

        The final score is the points of checks and of staff, minus the cost of late days.

        Args:
            report: the report, with the points that checks gave.
            raw: the points that the checks alone award, in hundredths, by the id of the exercise.
            record: the submission.
        """
        names, handin, policy = self.names(record), self.handin, self.course.policy
        days, known = None, ""
        report = with_overrides(report, self.overrides, names)
        if handin is not None:
            at = max((person.at for person in self.persons(record)), default="") or record.at
            days, known = lateness(names, at, self.course, handin, is_late=record.late)
        total = total_of({graded.exercise.id: graded.score for graded in report.exercises}, handin)
        left_out = (*total.extra, *total.dropped)
        own = sum(points for id, points in raw.items() if id not in left_out)
        earned = total.score.earned + total.bonus
        grace = needed_grace(earned, days or 0, policy.grace_days, policy)
        own_days = {name: one.grace_days for name in record.members if (one := (self.over_term or {}).get(name))}
        is_known = len(set(own_days.values())) == 1  # members of a group may have spent them on other hand-ins
        grace = next(iter(own_days.values())) if is_known else grace
        cost = penalty(earned, (days or 0) - grace, policy)
        final = FinalScore(
            raw=own,
            override=total.score.earned - own,
            bonus=total.bonus,
            penalty=cost,
            final=None if report.score.undecided else earned - cost,
            possible=total.score.possible,
            late_days=days,
            grace_days=grace,
            explained="",
            extra=total.extra,
            dropped=total.dropped,
        )
        may_be_spent = len(self.course.handins) > 1 and not is_known
        parts = list(_reasons(report, final, known, total, policy, grace_may_be_spent=may_be_spent))
        if own_days and not is_known:
            parts.append(
                f"over the term {', '.join(f'{who} has {_final_text(self.over_term, who)}' for who in own_days)}"
            )
        if not (parts or left_out):
            return replace(report, policy=None)
        text = "; ".join([f"{points_text(own)} of {points_text(total.score.possible)} points", *parts])
        end = "undecided" if final.final is None else points_text(final.final)
        return replace(report, policy=replace(final, explained=f"{text}; final: {end}"))


def _final_text(scores: Mapping[str, FinalScore] | None, author: str) -> str:
    final = scores[author].final if scores else None
    return "undecided points" if final is None else points_text(final)


def _reasons(
    report: Report, final: FinalScore, known: str, total: Total, policy: Policy, *, grace_may_be_spent: bool
) -> Iterator[str]:
    """Yield in words each reason why the final score differs from the points of the checks.

    Examples are "0.5 more by staff (shape: right idea)" and "2 days late, which costs 20 % of 8.5 points: 2 (as the
    course says)".

    Args:
        report: the report, with the overrides of staff.
        final: the final score.
        known: the source of the time at which the submission was handed in, in words; or "".
        total: the total by the rules of the hand-in, with what is extra credit and what is dropped.
        policy: the policy of the course.
        grace_may_be_spent: True if other hand-ins, whose scores are not known here, may have used up the grace days.
    """
    decided = [row for row in staff_decisions(report) if row[2] != VOID or final.override]
    if rows := [f"{check or graded.exercise.id}: {why}" for graded, check, why in decided]:
        change = "no change" if not final.override else "more" if final.override > 0 else "less"
        points = f"{points_text(abs(final.override))} " if final.override else ""
        yield f"{points}{change} by staff ({', '.join(rows)})"
    yield from total_parts(total)
    if final.late_days is not None:
        yield late_text(final, policy, grace_may_be_spent=grace_may_be_spent) + (f" ({known})" if known else "")
