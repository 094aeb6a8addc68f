"""What counts of a report in the end: days late, grace days, extra credit, what is dropped, what staff decided.

The score that checks give stays as it is beside it. Without anything of this a report has no policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from grader.batch.journal import Noted
from grader.batch.overrides import Override, decisions, overridden, read_overrides
from grader.course.layout import COURSE_FILE
from grader.grading.plan import VOID
from grader.intake.handed import Handed
from grader.model import Course, FinalScore, GradedExercise, HandIn, Policy, Report
from grader.model.score import counted, points_text
from grader.report.people import People, Person, folded, people_in
from grader.report.safe import for_csv

ROSTER = "roster.csv"
"""The copy of the last roster, in the folder of results."""

_ALL = 100_00
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lateness:
    """How late something was handed in.

    Attributes:
        days: None if nothing says it.
        why: how that is known, in words.
    """

    days: int | None
    why: str = ""


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
        return Lateness(max(known), "as the course says")
    longer = [until for name, until in handin.extensions.items() if folded(name) in names]
    due = max(longer, default=handin.due)
    if at and due:
        time = datetime.fromisoformat(at)
        if time.tzinfo is None:
            time = time.replace(tzinfo=ZoneInfo(course.timezone) if course.timezone else UTC)
        when = f"due {_shown(due)}, handed in {_shown(time.astimezone(due.tzinfo))}"
        # In UTC, because a day on which clocks change has no 24 hours.
        over = time.astimezone(UTC) - due.astimezone(UTC)
        is_late = over > timedelta(minutes=course.policy.slack_minutes)
        return Lateness(-(-over // _DAY) if is_late else 0, when)
    if is_late and not longer:
        return Lateness(1, "its platform does not say by how much: 1 day counts")
    return Lateness(None)


@dataclass(frozen=True)
class Rules:
    """What makes final scores of the results in a folder; its files are read once.

    Attributes:
        course: has the policy.
        handin: that was graded, or None.
        overrides: of staff.
        people: of the roster, or None.
    """

    course: Course
    handin: HandIn | None
    overrides: Sequence[Override]
    people: People | None

    @classmethod
    def read(cls, out: Path, course: Course, handin: str | None, names: Mapping[str, str]) -> Rules:
        """Those of a folder of results.

        Args:
            out: the folder.
            course: has the policy.
            handin: that was graded, or None.
            names: of people by the numbers that their submissions have.

        Raises:
            CourseError: its overrides or its roster cannot be read; it lists every problem.
        """
        people = people_in(path) if (path := out / ROSTER).is_file() else None
        if people is not None:
            people.given = names
        one = next((item for item in course.handins if item.id == handin), None)
        return cls(course, one, read_overrides(out, course), people)

    @classmethod
    def none(cls, course: Course) -> Rules:
        """None of them."""
        return cls(course, None, (), None)

    def applied(self, report: Report, raw: Mapping[str, int], noted: Noted) -> Report:
        """The report with what staff and the policy make of it; `raw` are the points of its checks by exercise."""
        names, late = self.names(noted), Lateness(None)
        report = overridden(report, self.overrides, names)
        if self.handin is not None:
            persons = [self.person_of(name) for name in noted.members]
            at = max((person.at for person in persons if person), default="") or noted.at
            late = lateness(names, at, self.course, self.handin, is_late=noted.late)
        return with_policy(report, raw, late, self.course, self.handin)

    def names(self, noted: Noted) -> frozenset[str]:
        """What means the authors of a submission, folded: as in the gradebook, and as on the roster."""
        names = (noted.author, *noted.authors)
        own = frozenset(folded(text) for name in names for text in (name, for_csv(name)))
        persons = [person for name in noted.members if (person := self.person_of(name))]
        return own.union(*(self.people.names_of(person) for person in persons)) if self.people else own

    def unknown(self, names: Collection[str]) -> Iterator[str]:
        """A sentence for each name of the hand-in in course.yaml that means nobody."""
        on_roster = [self.people.names_of(person) for person in self.people.persons] if self.people else []
        known = frozenset(names).union(*on_roster)
        if (handin := self.handin) is not None:
            typed = {"extensions": handin.extensions, "late_days": handin.late_days}
            for key, name in ((key, name) for key, own in typed.items() for name in own if folded(name) not in known):
                yield f"{COURSE_FILE}: handins.{handin.id}.{key}: no author is called {name}"

    def with_members(self, handed: Handed) -> Handed:
        """The same with all members of a team of Moodle's as its authors, if the roster has the team's name."""
        if self.people is None or not handed.name or self.person_of(handed.key):
            return handed
        members = tuple(person.author for person in self.people.team(handed.name))
        return replace(handed, authors=members, name="") if members else handed

    def person_of(self, author: str) -> Person | None:
        """Who on the roster an author is; None without a roster, too."""
        return self.people.person_of(author) if self.people else None


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M %Z}"


def penalty(points: int, days: int, policy: Policy) -> int:
    """What so many days cost of these points, in hundredths, rounded down."""
    percent = min(days * policy.percent_a_day, policy.cap_percent, _ALL)
    return max(0, points) * percent // _ALL


def with_policy(
    report: Report, raw: Mapping[str, int], late: Lateness, course: Course, handin: HandIn | None
) -> Report:
    """The report with what counts of it in the end.

    Args:
        report: with what staff decided.
        raw: hundredths of a point by exercise, before staff decided anything.
        late: how late it was.
        course: says what late work costs.
        handin: says what is extra credit, and how much is dropped; or None.
    """
    extra = set(handin.extra) if handin else set[str]()
    dropped = {graded.exercise.id for graded in _dropped(report, extra, handin.drop if handin else 0)}
    counts = [graded for graded in report.exercises if graded.exercise.id not in dropped]
    plain = [graded for graded in counts if graded.exercise.id not in extra]
    undecided = any(graded.score.undecided for graded in report.exercises)
    earned, possible = (sum(getattr(one.score, what) for one in plain) for what in ("earned", "possible"))
    bonus = sum(graded.score.earned for graded in counts) - earned
    own = sum(raw[graded.exercise.id] for graded in plain)
    grace = min(late.days or 0, course.policy.grace_days)
    cost = penalty(earned + bonus, (late.days or 0) - grace, course.policy)
    final = FinalScore(
        raw=own,
        override=earned - own,
        bonus=bonus,
        penalty=cost,
        final=None if undecided else earned + bonus - cost,
        possible=possible,
        late_days=late.days,
        grace_days=grace,
        explained="",
    )
    parts = list(_parts(report, final, late, dropped, course.policy, alone=len(course.handins) > 1))
    if not parts and possible == report.score.possible:
        return report
    text = "; ".join([f"{points_text(own)} of {points_text(possible)} points", *parts])
    end = "undecided" if final.final is None else points_text(final.final)
    return replace(report, policy=replace(final, explained=f"{text}; final: {end}"))


def _dropped(report: Report, extra: set[str], count: int) -> list[GradedExercise]:
    """The lowest exercises, by the part of their points that was earned; of equal ones the first."""
    plain = [graded for graded in report.exercises if graded.exercise.id not in extra]
    lowest = sorted(plain, key=lambda graded: graded.score.earned / graded.score.possible)
    return lowest[: min(count, len(plain) - 1)]


def _parts(
    report: Report, final: FinalScore, late: Lateness, dropped: set[str], policy: Policy, *, alone: bool
) -> Iterator[str]:
    """What makes the final score another one, in words."""
    rows = [row for row in decisions(report) if row[2] != VOID or final.override]
    if decided := [f"{check or graded.exercise.id}: {why}" for graded, check, why in rows]:
        change = "no change" if not final.override else "more" if final.override > 0 else "less"
        points = f"{points_text(abs(final.override))} " if final.override else ""
        yield f"{points}{change} by staff ({', '.join(decided)})"
    if final.bonus:
        yield f"{points_text(final.bonus)} more as extra credit"
    if dropped:
        yield f"lowest dropped: {', '.join(sorted(dropped))}"
    if late.days is not None:
        yield late_text(final, policy, alone=alone) + (f" ({late.why})" if late.why else "")


def late_text(final: FinalScore, policy: Policy, *, alone: bool = False) -> str:
    """How late it was, and what that costs; `alone` where nobody knows which grace days other hand-ins use up."""
    days = final.late_days or 0
    if not days:
        return "on time"
    text = f"{counted(days, 'day')} late"
    if final.grace_days:
        text += f", {final.grace_days} of them covered by grace days{' (if other hand-ins leave any)' if alone else ''}"
    if final.penalty:
        of = final.raw + final.override + final.bonus
        percent = min((days - final.grace_days) * policy.percent_a_day, policy.cap_percent)
        text += f", which costs {points_text(percent)} % of {points_text(of)} points: {points_text(final.penalty)}"
    return text
