"""What counts of a report in the end: days late, grace days, extra credit, what is dropped, what staff decided.

The score that checks give stays as it is beside it. Without anything of this a report has no policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from grader.batch.journal import Noted
from grader.course.files import Points, Strict, suggestion, validated
from grader.course.layout import COURSE_FILE
from grader.grading.plan import VOID
from grader.intake.contents import Handed
from grader.model import Course, FinalScore, GradedCheck, GradedExercise, HandIn, Policy, Report, Score
from grader.model.errors import CourseError
from grader.model.score import Total, counted, points_text, total_of, total_parts
from grader.report.people import NOBODY, People, Person, Table, folded, people_in
from grader.report.safe import for_csv

OVERRIDES = "overrides.csv"
"""Points that staff gives by hand, in the folder of results. The file survives each regrade.

A row gives the points of one check, or of a whole exercise where `check` is empty, and says why.
"""

ROSTER = "roster.csv"
"""The copy of the last roster, in the folder of results."""

_ALL = 100_00
_DAY = timedelta(days=1)
_MOST_PROBLEMS = 50


class Override(Strict):
    """Points that staff gives: a row of the file.

    Attributes:
        author: of the submission, or one of its group; folded.
        exercise: the id or the number.
        check: its id; "" for the whole exercise.
        points: not in hundredths.
        why: a sentence.
        line: of the file.
    """

    author: Annotated[str, Field(min_length=1), AfterValidator(folded)]
    exercise: Annotated[str, Field(min_length=1)]
    check: Annotated[str, AfterValidator(lambda name: name.removeprefix("check_"))] = ""
    points: Points
    why: Annotated[str, Field(min_length=1)]
    line: int

    @property
    def worth(self) -> int:
        """The points, in hundredths."""
        return round(self.points * 100)

    def problem(self, report: Report) -> str:
        """Why it cannot be applied to its author's report, or ""."""
        graded = next((one for one in report.exercises if one.exercise.id == self.exercise), None)
        if graded is None:
            return f"{self.exercise} was not graded for {self.author}"
        possible = graded.score.possible
        if self.check:
            rows = {row.check.id: row for row in graded.checks}
            if self.check not in rows:
                hint = suggestion(self.check, list(rows)) if rows else "; no check ran, so leave the column check empty"
                return f"{self.exercise} has no check {self.check} for {self.author}{hint}"
            possible = rows[self.check].score.possible
        return f"{points_text(self.worth)} is more than {points_text(possible)} points" * (self.worth > possible)


def read_overrides(out: Path, course: Course) -> tuple[Override, ...]:
    """The overrides in a folder of results; none if it has no such file.

    Raises:
        CourseError: rows of the file are wrong; it lists them all.
    """
    path = out / OVERRIDES
    if not path.is_file():
        return ()
    table, problems = Table(path), list[str]()
    names = {name: exercise.id for exercise in course.exercises for name in (exercise.id, exercise.number)}
    made: dict[tuple[str, str, str], Override] = {}
    for row, line in zip(table.rows[1:], table.lines[1:], strict=True):
        if len(problems) >= _MOST_PROBLEMS:
            problems.append(f"{path}: what is wrong after line {line - 1} is not listed")
            break
        where = f"{path}: line {line}"
        cells = {name: cell.strip() for name, cell in zip(table.header, row, strict=False) if name}
        cells["points"] = cells.get("points", "").replace(",", ".")  # as half of the world writes 7.5
        exercise, read = cells.get("exercise", ""), None
        try:
            read = validated(cells | {"line": line}, where, Override)
        except CourseError as error:
            problems += error.problems
        if read is None:
            continue
        one = read.model_copy(update={"exercise": names.get(exercise, exercise)})
        first = made.setdefault((one.author, one.exercise, one.check), one)
        if first is not one:
            problems.append(f"{where}: line {first.line} is about the same; remove one of the two")
    if problems:
        raise CourseError(*problems)
    return tuple(sorted(made.values(), key=lambda one: not one.check))  # those of whole exercises have the last word


def overridden(report: Report, overrides: Sequence[Override], names: Collection[str]) -> Report:
    """The report of whom these names mean with the points that staff gave; rows that do not fit change nothing."""
    for one in overrides:
        if one.author in names and not one.problem(report):
            rows = (_set(graded, one) if graded.exercise.id == one.exercise else graded for graded in report.exercises)
            report = replace(report, exercises=tuple(rows))
    return report


def _set(graded: GradedExercise, one: Override) -> GradedExercise:
    if not one.check:
        return replace(graded, score=Score(one.worth, graded.score.possible), withheld_points=0, set_by=one.why)

    def given(row: GradedCheck) -> GradedCheck:
        if row.check.id != one.check:
            return row
        return replace(row, score=Score(one.worth, row.score.possible), held_back=0, set_by=one.why)

    checks = tuple(map(given, graded.checks))
    change = [(new.score, old.score) for new, old in zip(checks, graded.checks, strict=True)]
    earned = graded.score.earned + sum(new.earned - old.earned for new, old in change)
    undecided = graded.score.undecided + sum(new.undecided - old.undecided for new, old in change)
    return replace(graded, checks=checks, score=Score(earned, graded.score.possible, undecided))


def decisions(report: Report) -> Iterator[tuple[GradedExercise, str, str]]:
    """What staff decided in a report: the exercise, the id of the check or "", and why."""
    for graded in report.exercises:
        if graded.set_by:
            yield graded, "", graded.set_by
        else:
            yield from ((graded, row.check.id, row.set_by) for row in graded.checks if row.set_by)


def unused(
    overrides: Sequence[Override], reports: Sequence[tuple[Collection[str], Report]], course: Course
) -> Iterator[str]:
    """A sentence for each row that fits none of the reports, which come with the names of their authors."""
    known = [exercise.id for exercise in course.exercises]
    for one in overrides:
        own = [report for names, report in reports if one.author in names]
        why = one.problem(own[0]) if own else f"no submission is by {one.author}"
        if one.exercise not in known:
            why = f"there is no exercise {one.exercise}{suggestion(one.exercise, known)}"
        if why:
            yield f"{OVERRIDES}: line {one.line} does not count: {why}"


Lateness = tuple[int | None, str]
"""How many days late something was handed in, None if nothing says it; and how that is known, in words."""


def lateness(names: Collection[str], at: str, course: Course, handin: HandIn, *, is_late: bool) -> Lateness:
    """How late a submission was.

    Args:
        names: of its authors, folded.
        at: when it was handed in, in ISO 8601; "" if nothing says it.
        course: says how long after the due date work is on time, and the zone of times without one.
        handin: says until when it was due, for everybody and for some.
        is_late: whether its platform says that it was late.
    """
    known = [days for name, days in handin.late_days.items() if folded(name) in names]
    if known:
        return max(known), "as the course says"
    longer = [until for name, until in handin.extensions.items() if folded(name) in names]
    due = max(longer, default=handin.due)
    if at and due:
        zone = ZoneInfo(course.timezone) if course.timezone else due.tzinfo
        time = datetime.fromisoformat(at)
        time = time.astimezone(zone) if time.tzinfo else time.replace(tzinfo=zone)
        due = due.astimezone(zone)
        when = f"due {_shown(due)}, handed in {_shown(time)}"
        # Minutes of slack pass everywhere alike, so they are counted in UTC. A day is one on the wall clock, which has
        # 23 or 25 hours where clocks change.
        if time.astimezone(UTC) - due.astimezone(UTC) <= timedelta(minutes=course.policy.slack_minutes):
            return 0, when
        over = time.replace(tzinfo=None) - due.replace(tzinfo=None)
        return max(1, -(-over // _DAY)), when
    if is_late and not longer:
        return 1, "its platform does not say by how much: 1 day counts"
    return None, ""


def roster_in(out: Path, names: Mapping[str, str], platform: str = "") -> People:
    """The people of the roster in a folder of results; nobody without one.

    Args:
        out: the folder.
        names: of people by the numbers that their submissions have.
        platform: whose numbers these are; "" if nothing says it.

    Raises:
        CourseError: it cannot be read.
    """
    path = out / ROSTER
    return people_in(path, names, platform) if path.is_file() else NOBODY


@dataclass(frozen=True)
class Rules:
    """What makes final scores of the results in a folder; its files are read once.

    Attributes:
        course: has the policy.
        handin: that was graded, or None.
        overrides: of staff.
        people: of the roster; nobody without one.
        over_term: by author, what counts where the grace days of all hand-ins are known; None where they are not.
    """

    course: Course
    handin: HandIn | None = None
    overrides: Sequence[Override] = ()
    people: People = NOBODY
    over_term: Mapping[str, FinalScore] | None = None

    @classmethod
    def read(cls, out: Path, course: Course, handin: str | None, names: Mapping[str, str], platform: str = "") -> Rules:
        """Those of a folder of results.

        Args:
            out: the folder.
            course: has the policy.
            handin: that was graded, or None.
            names: of people by the numbers that their submissions have.
            platform: whose numbers these are; "" if nothing says it.

        Raises:
            CourseError: its overrides or its roster cannot be read; it lists every problem.
        """
        people = roster_in(out, names, platform)
        return cls(course, course.handin(handin), read_overrides(out, course), people)

    def numbers(self) -> frozenset[str]:
        """The numbers that a platform gave everybody on its roster."""
        people = self.people
        return frozenset(person.author for person in people.persons if people.kind != "plain")

    def persons(self, noted: Noted) -> list[Person]:
        """Those on the roster whose submission it is."""
        return [person for name in noted.members if (person := self.people.person_of(name))]

    def names(self, noted: Noted) -> frozenset[str]:
        """What means the authors of a submission, folded: as in the gradebook, and as on the roster."""
        own = frozenset(folded(text) for name in (noted.author, *noted.authors) for text in (name, for_csv(name)))
        return own.union(*map(self.people.names_of, self.persons(noted)))

    def unknown(self, names: Collection[str]) -> Iterator[str]:
        """A sentence for each name of the hand-in in course.yaml that means nobody."""
        if (handin := self.handin) is not None:
            known = frozenset(names).union(*map(self.people.names_of, self.people.persons))
            for key, own in (("extensions", handin.extensions), ("late_days", handin.late_days)):
                for name in own:
                    if folded(name) not in known:
                        yield f"{COURSE_FILE}: handins.{handin.id}.{key}: no author is called {name}"

    def with_members(self, handed: Handed) -> Handed:
        """The same with all members of a group as its authors, if the roster has the group's name.

        Of Moodle the number is the team's then, which another participant may have; of Canvas it is one member's.
        """
        team = self.people.team(handed.name, handed.key) if handed.name else ()
        members = tuple(person.author for person in team)
        return replace(handed, authors=members, name="") if members else handed

    def applied(self, report: Report, raw: Mapping[str, int], noted: Noted) -> Report:
        """The report with what staff and the policy make of it.

        Args:
            report: as it was graded.
            raw: hundredths of a point by exercise, as the checks alone judge it: before staff decided anything.
            noted: the submission.
        """
        names, handin, policy = self.names(noted), self.handin, self.course.policy
        days, known = None, ""
        report = overridden(report, self.overrides, names)
        if handin is not None:
            at = max((person.at for person in self.persons(noted)), default="") or noted.at
            days, known = lateness(names, at, self.course, handin, is_late=noted.late)
        total = total_of({graded.exercise.id: graded.score for graded in report.exercises}, handin)
        left_out = (*total.extra, *total.dropped)
        own = sum(points for id, points in raw.items() if id not in left_out)
        earned = total.score.earned + total.bonus
        grace = needed_grace(earned, days or 0, policy.grace_days, policy)
        own_days = {name: one.grace_days for name in noted.members if (one := (self.over_term or {}).get(name))}
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
        alone = len(self.course.handins) > 1 and not is_known
        parts = list(_parts(report, final, known, total, policy, alone=alone))
        if own_days and not is_known:
            parts.append(f"over the term {', '.join(f'{who} has {_end(self.over_term, who)}' for who in own_days)}")
        if not (parts or left_out):
            return replace(report, policy=None)
        text = "; ".join([f"{points_text(own)} of {points_text(total.score.possible)} points", *parts])
        end = "undecided" if final.final is None else points_text(final.final)
        return replace(report, policy=replace(final, explained=f"{text}; final: {end}"))


def _end(scores: Mapping[str, FinalScore] | None, author: str) -> str:
    final = scores[author].final if scores else None
    return "undecided points" if final is None else points_text(final)


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M %Z}"


def penalty(points: int, days: int, policy: Policy) -> int:
    """What so many days cost of these points, in hundredths, rounded down."""
    percent = min(days * policy.percent_a_day, policy.cap_percent, _ALL)
    return max(0, points) * percent // _ALL


def needed_grace(points: int, days: int, most: int, policy: Policy) -> int:
    """Return the fewest grace days, up to `most`, with which so many days late cost as little as with all of them."""
    choices = range(min(days, most) + 1)
    return min(choices, key=lambda grace: (penalty(points, days - grace, policy), grace))


def _parts(
    report: Report, final: FinalScore, known: str, total: Total, policy: Policy, *, alone: bool
) -> Iterator[str]:
    """What makes the final score another one, in words."""
    decided = [row for row in decisions(report) if row[2] != VOID or final.override]
    if rows := [f"{check or graded.exercise.id}: {why}" for graded, check, why in decided]:
        change = "no change" if not final.override else "more" if final.override > 0 else "less"
        points = f"{points_text(abs(final.override))} " if final.override else ""
        yield f"{points}{change} by staff ({', '.join(rows)})"
    yield from total_parts(total)
    if final.late_days is not None:
        yield late_text(final, policy, alone=alone) + (f" ({known})" if known else "")


def late_text(final: FinalScore, policy: Policy, *, alone: bool = False) -> str:
    """How late it was, and what that costs; `alone` where nobody knows which grace days other hand-ins use up."""
    days = final.late_days or 0
    if not days:
        return "on time"
    text, of = f"{counted(days, 'day')} late", final.raw + final.override + final.bonus
    if final.grace_days:
        text += f", {final.grace_days} of them covered by grace days{' (if other hand-ins leave any)' if alone else ''}"
    elif policy.grace_days and needed_grace(of, days, policy.grace_days, policy):
        text += ", and grace days save more on other hand-ins"
    elif policy.grace_days:
        text += ", where grace days would save nothing"
    if final.penalty:
        percent = min((days - final.grace_days) * policy.percent_a_day, policy.cap_percent)
        text += f", which costs {points_text(percent)} % of {points_text(of)} points: {points_text(final.penalty)}"
    return text
