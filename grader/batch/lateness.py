"""How late a submission was, and what that costs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from grader.model import Course, FinalScore, HandIn, Policy
from grader.model.score import pluralize, points_text
from grader.report.names import fold_name

_ALL = 100_00
_DAY = timedelta(days=1)


Lateness = tuple[int | None, str]
"""How many days late something was handed in, None if nothing says it; and how that is known, in words."""


def lateness(names: Collection[str], at: str, course: Course, handin: HandIn, *, is_late: bool) -> Lateness:
    """Return how many days late a submission was, and in words how that is known.

    An example is `(1, "due 2026-11-27 18:00 CET, handed in 2026-11-27 20:30 CET")`, as each day that has begun counts.
    It is `(None, "")` if nothing says it.

    Args:
        names: the names of the submission's authors, folded.
        at: the time when it was handed in, in ISO 8601; "" if nothing says it.
        course: the course, which has the time after the due date that is still on time, and the zone of times.
        handin: the hand-in, which has the due date, and those of extensions.
        is_late: True if its platform says that it was late.
    """
    known = [days for name, days in handin.late_days.items() if fold_name(name) in names]
    if known:
        return max(known), "as the course says"
    longer = [until for name, until in handin.extensions.items() if fold_name(name) in names]
    due = max(longer, default=handin.due)
    if at and due:
        zone = ZoneInfo(course.timezone) if course.timezone else due.tzinfo
        time = datetime.fromisoformat(at)
        time = time.astimezone(zone) if time.tzinfo else time.replace(tzinfo=zone)
        due = due.astimezone(zone)
        when = f"due {_time_text(due)}, handed in {_time_text(time)}"
        # Minutes of slack pass everywhere alike, so they are counted in UTC. A day is one on the wall clock, which has
        # 23 or 25 hours where clocks change.
        if time.astimezone(UTC) - due.astimezone(UTC) <= timedelta(minutes=course.policy.slack_minutes):
            return 0, when
        over = time.replace(tzinfo=None) - due.replace(tzinfo=None)
        return max(1, -(-over // _DAY)), when
    if is_late and not longer:
        return 1, "its platform does not say by how much: 1 day counts"
    return None, ""


def _time_text(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M %Z}"


def penalty(points: int, days: int, policy: Policy) -> int:
    """Return the points that a submission loses because it is late.

    At 10 % a day and at most 50 %, a submission of 10 points loses 2 points by two days: `penalty(1000, 2, policy)` is
    200.

    Args:
        points: the points of the submission, in hundredths.
        days: the number of days by which it is late.
        policy: the policy of the course.

    Returns:
        Hundredths of a point, rounded down.
    """
    percent = min(days * policy.percent_a_day, policy.cap_percent, _ALL)
    return max(0, points) * percent // _ALL


def needed_grace(points: int, days: int, most: int, policy: Policy) -> int:
    """Return the smallest number of grace days that saves as many points as all of them.

    At 10 % a day and at most 50 %, a submission that is 2 days late needs 2 of 5 grace days. One that is 7 days late
    needs 0 of 2, as the 5 days that remain cost as much as 7.

    Args:
        points: the points of the submission, in hundredths.
        days: the number of days by which it is late.
        most: the number of grace days that are left.
        policy: the policy of the course.
    """
    choices = range(min(days, most) + 1)
    return min(choices, key=lambda grace: (penalty(points, days - grace, policy), grace))


def late_text(final: FinalScore, policy: Policy, *, grace_may_be_spent: bool = False) -> str:
    """Return in words how late a submission was, and what that costs.

    Examples are "on time", and "2 days late, which costs 20 % of 10 points: 2".

    Args:
        final: the final score.
        policy: the policy of the course.
        grace_may_be_spent: True if other hand-ins, whose scores are not known here, may have used up the grace days.
    """
    days = final.late_days or 0
    if not days:
        return "on time"
    text, of = f"{pluralize(days, 'day')} late", final.raw + final.override + final.bonus
    if final.grace_days:
        unless = " (unless other hand-ins have used them up)" if grace_may_be_spent else ""
        text += f", {final.grace_days} of them covered by grace days{unless}"
    elif policy.grace_days and needed_grace(of, days, policy.grace_days, policy):
        text += ", and grace days save more on other hand-ins"
    elif policy.grace_days:
        text += ", where grace days would save nothing"
    if final.penalty:
        percent = min((days - final.grace_days) * policy.percent_a_day, policy.cap_percent)
        text += f", which costs {points_text(percent)} % of {points_text(of)} points: {points_text(final.penalty)}"
    return text
