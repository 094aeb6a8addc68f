"""Outcomes → points, in exact arithmetic in hundredths of a point; and the checks of an exercise by what ended them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from grader.model.check import CAUSES, Check, Outcome, Verdict
from grader.model.course import HandIn
from grader.model.report import FinalScore, GradedCheck, Score

_TENTH = 10


def divide(points: int, shares: Sequence[int]) -> list[int]:
    """Divide points in proportion to shares, into parts that add up exactly.

    10 points in three equal shares are 3.3, 3.4 and 3.3: `divide(1000, [1, 1, 1])` is `[330, 340, 330]`. The parts are
    hundredths only if a part would be 0, or if the points are not whole tenths. For each n, the sum of the first n
    parts is rounded, instead of each part. So the first parts do not depend on how the rest is divided, which a copy
    without hidden checks does not know.

    Args:
        points: the points, in hundredths.
        shares: the weight of each part.

    Returns:
        One part for each share, in hundredths of a point.
    """
    total = sum(shares)
    if total == 0:
        return [0 for _ in shares]
    for unit in (_TENTH, 1):
        sums = [0, *((2 * points * done + total * unit) // (2 * total * unit) * unit for done in accumulate(shares))]
        parts = [after - before for before, after in pairwise(sums)]
        if points % unit == 0 and all(part for part, share in zip(parts, shares, strict=True) if share):
            break
    return parts


def score_checks(
    points: int, checks: Sequence[Check], outcomes: Sequence[Outcome], withheld_shares: int
) -> tuple[list[GradedCheck], int]:
    """Return each check with the points that it earns, and the points of withheld checks.

    Withheld checks are those that this copy of the course does not have. `hold_back` may reduce what the checks earn.

    Args:
        points: the points of the exercise, in hundredths.
        checks: all checks of the exercise that this copy has.
        outcomes: the outcome of each check, in the same order.
        withheld_shares: the sum of the shares of the withheld checks.
    """
    *parts, withheld = divide(points, [*(check.share for check in checks), withheld_shares])
    graded = []
    for check, outcome, part in zip(checks, outcomes, parts, strict=True):
        earned = part if outcome.verdict is Verdict.PASSED else 0
        undecided = 0 if outcome.verdict.is_decided else part
        graded.append(GradedCheck(check, outcome, Score(earned, part, undecided)))
    return graded, withheld


def _tests_value(check: Check, values: Sequence[str], caps: Mapping[str, int]) -> bool:
    """Return whether a check passes only if the student's code computes a right value.

    Args:
        check: the check.
        values: the rules or the ids of such checks; see `hold_back`.
        caps: the caps, by rule or by id of the check; see `hold_back`.
    """
    if not values:
        return check.category == "correctness" and check.contract not in caps
    return any(name in values for name in _rule_and_id(check))


def hold_back(
    rows: Sequence[GradedCheck], values: Sequence[str], caps: Mapping[str, int], *, withheld: bool
) -> tuple[list[GradedCheck], str | None]:
    """Take points from checks if no value is right, or if a broken rule caps the exercise.

    Without a right value, no check earns anything: rules on cost, layout, dtype and purity are easy to obey with a
    constant. A check of values that is undecided counts as right here. If a check that has a cap, or whose rule has
    one, is lost, the exercise earns at most the cap; the first checks keep their points.

    Args:
        rows: every check of the exercise, with the points that it earned.
        values: the rules or the ids of the checks that test a right value. If it is empty, they are all checks of
            category correctness on rules without a cap.
        caps: the most hundredths of a point that the exercise earns if a check is lost, by rule or by id of the check.
        withheld: True if this copy lacks some checks. If so, the lack of a right value takes no points.

    Returns:
        The rows with the points that count, and the rule that caps the exercise, or None.
    """
    gate = [row for row in rows if _tests_value(row.check, values, caps)]
    verdicts = [row.outcome.verdict for row in gate]
    if gate and not withheld and not any(verdict is Verdict.PASSED or not verdict.is_decided for verdict in verdicts):
        return _limit_points(0, rows), None
    # Where a function is not written, and a value is wrong for that, its rule is not broken. But who raises an error
    # there, or returns a wrong shape, must not keep more than who breaks the rule in plain sight.
    values_right = all(verdict is Verdict.PASSED for verdict in verdicts)
    lost = [row for row in rows if row.verdict.is_lost and (values_right or not _did_not_test_answer(row))]
    lowered = ((caps[name], row.check.contract) for row in lost for name in _rule_and_id(row.check) if name in caps)
    cap, rule = min(lowered, default=(0, None))
    if rule is None or sum(row.score.earned for row in rows) <= cap:
        return list(rows), None
    return _limit_points(cap, rows), rule


def _rule_and_id(check: Check) -> tuple[str, str]:
    """Return a check's rule, and its id without parameters, such as `("C2", "views")`.

    exercise.yaml may name the check `views[float32]` by either of them.
    """
    return check.contract, check.id.split("[")[0]


def _did_not_test_answer(row: GradedCheck) -> bool:
    """Return whether a check ended before the answer could break the check's rule.

    Its verdict is then ERROR or SKIPPED.
    """
    return row.outcome.verdict in (Verdict.ERROR, Verdict.SKIPPED)


def _limit_points(most: int, rows: Sequence[GradedCheck]) -> list[GradedCheck]:
    """Return all rows with points that add up to at most `most`.

    The first rows keep their points: with at most 300, the points 200, 200 and 100 become 200, 100 and 0.
    """
    limited = []
    for row in rows:
        earned = min(row.score.earned, most)
        most -= earned
        limited.append(replace(row, score=replace(row.score, earned=earned), held_back=row.score.earned - earned))
    return limited


@dataclass(frozen=True)
class Total:
    """The total of scores by the rules of a hand-in, before staff and late days change it.

    Attributes:
        score: the score of the exercises that count, without extra credit.
        bonus: hundredths of a point that were earned as extra credit.
        extra: ids of the exercises whose points are extra credit.
        dropped: ids of those that do not count.
    """

    score: Score
    bonus: int = 0
    extra: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def total_of(scores: Mapping[str, Score], handin: HandIn | None) -> Total:
    """Return the total of scores by the rules of a hand-in: extra credit, and what is dropped.

    If the hand-in drops one exercise, the total of 5 of 10 and 10 of 10 points is 10 of 10. Extra credit is counted
    separately. Every output that has one number for a report uses this: gradebooks, exports, jobs, pages.

    Args:
        scores: the scores, by the ids of the exercises.
        handin: the hand-in, which has the rules; None if all exercises count as they are.
    """
    extra = tuple(id for id in scores if handin is not None and id in handin.extra)
    plain = [id for id in scores if id not in extra]
    # By the part of their points that was earned; of equal ones the first.
    lowest = sorted(plain, key=lambda each: scores[each].earned / (scores[each].possible or 1))
    dropped = tuple(lowest[: max(0, min(handin.drop if handin else 0, len(plain) - 1))])
    score = sum((scores[id] for id in plain if id not in dropped), Score(0, 0))
    return Total(score, sum(scores[id].earned for id in extra), extra, dropped)


def final_score_of(scores: Mapping[str, Score], handin: HandIn | None) -> FinalScore | None:
    """Return the final score by the extra credit and dropped exercises of a hand-in.

    Its `explained` is a line such as "10 of 10 points; 2 more as extra credit; lowest dropped: a; final: 12". Return
    None if no exercise is extra credit or dropped. Late days and decisions of staff do not count: this is for reports
    that are made without them.
    """
    total = total_of(scores, handin)
    if not (total.extra or total.dropped):
        return None
    is_open = any(score.undecided for score in scores.values())
    earned = total.score.earned + total.bonus
    parts = [f"{points_text(total.score.earned)} of {points_text(total.score.possible)} points", *total_parts(total)]
    end = "undecided" if is_open else points_text(earned)
    return FinalScore(
        raw=total.score.earned,
        late_days=None,
        penalty=0,
        override=0,
        bonus=total.bonus,
        final=None if is_open else earned,
        possible=total.score.possible,
        grace_days=0,
        explained=f"{'; '.join(parts)}; final: {end}",
        extra=total.extra,
        dropped=total.dropped,
    )


def final_score_text(total: Score, policy: FinalScore | None) -> str:
    """Return a line with the score that counts, and the undecided points.

    An example is "8 of 10 points after 2 late days; 8.5 before; 1 more are undecided, neither earned nor lost". The 8.5
    are the score without the penalty for late days.

    Args:
        total: the score that counts, as `score_after_policy` returns it.
        policy: the final score by the hand-in's rules; None if all exercises count as they are.
    """
    text = f"{points_text(total.earned)} of {points_text(total.possible)} points"
    late = late_days_text(total, policy)
    text += f" {late}" if late else ""
    if total.undecided:
        text += f"; {points_text(total.undecided)} more are undecided, neither earned nor lost"
    return text


def late_days_text(total: Score, policy: FinalScore | None) -> str:
    """Return a text on lateness; "" if the submission was not late.

    An example is "after 2 late days; 8.5 before". The second number is the score without the penalty for late days;
    without a penalty this number is left out.
    """
    if policy is None or not policy.late_days:
        return ""
    before = f"; {points_text(total.earned + policy.penalty)} before" if policy.penalty else ""
    return f"after {pluralize(policy.late_days, 'late day')}{before}"


def total_parts(total: Total) -> list[str]:
    """Return phrases about extra credit and dropped exercises; [] for a total without them.

    An example is `["1.5 more as extra credit", "lowest dropped: loss, views"]`.
    """
    bonus = [f"{points_text(total.bonus)} more as extra credit"] if total.bonus else []
    return bonus + ([f"lowest dropped: {', '.join(sorted(total.dropped))}"] if total.dropped else [])


def is_void(check: str, void: Sequence[str]) -> bool:
    """Return whether a check is void, so that everybody gets its points.

    Args:
        check: the id of the check.
        void: ids of void checks. An id without parameters stands for the check with any parameters.
    """
    return check in void or check.split("[")[0] in void


def in_points(hundredths: int) -> float:
    """Convert hundredths of a point to points, for JSON and tables."""
    return hundredths / 100


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun, as a person writes it: 1 author, 2 authors."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Return names as one text; of more than `most`, the first ones and "and N more"."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def points_text(hundredths: int) -> str:
    """Return points as a person writes them: 7, 7.5, 7.25."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


_POINT = 100


def held_back_text(held_back: int, held_by: str | None) -> str:
    """Return a sentence that says why earned points do not count; "" if all of them count.

    An example is "While rule C3 is broken, 2.5 more points do not count."

    Args:
        held_back: the hundredths of a point that do not count.
        held_by: the broken rule that caps the exercise; None if no value was right.
    """
    if not held_back:
        return ""
    held = points_text(held_back)
    if held_by is not None:
        do = "more point does" if held_back == _POINT else "more points do"
        return f"While rule {held_by} is broken, {held} {do} not count."
    return f"No points yet: {held} earned on other rules do not count, because no value was right."


# -- the cause first, and checks that stop at one cause as one group ---------------------------------------------------

_RAISED = re.compile(r"your (?:`[^`]+`(?: object)?|\w+\.py) (?:raised \w+|is not written yet|)")
_KIND = re.compile(r"^expected .+ to be .+, got (None|an? [\w ]+|some other object)(?: \(.+? missing\?\))?$")
_ONE_FOR_ALL = ("load", "name", "signature", "raised")
_ANYWHERE = ("raised", "kind", "shape")
_FIRST_RESULT, _LAST_RESULT = CAUSES.index("raised"), CAUSES.index("memory")
_PLACE = re.compile(r"^ {4}\S.*, line \d+", re.MULTILINE)


@dataclass(frozen=True)
class Causes:
    """The checks of an exercise, in the order in which a reader needs them.

    Attributes:
        cause: the one that is shown in full, or None if none lost points.
        same: the checks that stop at the same cause.
        lost: the others that lost points, causes before consequences.
        firsts: the first of these of each other function than that of the cause, and of each other mistyped name.
        unwritten: the checks of functions that are not written yet, except for the cause.
        open: the checks of which nothing was decided.
        passed: the checks that passed.
    """

    cause: GradedCheck | None
    same: tuple[GradedCheck, ...]
    lost: tuple[GradedCheck, ...]
    firsts: tuple[GradedCheck, ...]
    unwritten: tuple[GradedCheck, ...]
    open: tuple[GradedCheck, ...]
    passed: tuple[GradedCheck, ...]

    @classmethod
    def of(cls, rows: Sequence[GradedCheck]) -> Causes:
        """Group the checks of a graded exercise by whether they lost points, and why."""
        lost = sorted((row for row in rows if row.verdict.is_lost), key=_cause_order)
        # The message of a shown check is complete, and has a picture; that of a hidden one names a property.
        shown = [row for row in lost if row.check.shown and not _is_unwritten(row)]
        lost.sort(key=lambda row: row not in shown[:1])
        cause = lost[0] if lost else None
        same = tuple(row for row in lost[1:] if cause is not None and _has_same_cause(row, cause))
        rest = tuple(row for row in lost[1:] if row not in same and not _is_unwritten(row))
        unwritten = tuple(row for row in lost[1:] if row not in same and _is_unwritten(row))
        undecided = tuple(row for row in rows if not row.verdict.is_decided)
        functions = {_function_or_missing_name(cause)} if cause is not None else set[str]()
        firsts = []
        for row in rest:
            if (name := _function_or_missing_name(row)) and name not in functions:
                functions.add(name)
                firsts.append(row)
        passed = tuple(row for row in rows if row.verdict is Verdict.PASSED)
        return cls(cause, same, rest, tuple(firsts), unwritten, undecided, passed)


def function_of(row: GradedCheck) -> str:
    """Return the student's function or class that a check called last; "" without a call.

    If the last call was `Model.forward`, it is "Model".
    """
    return row.outcome.called[-1].split(".")[0] if row.outcome.called else ""


def _function_or_missing_name(row: GradedCheck) -> str:
    """Return what a failed check is about: a function, or a sentence about a missing name.

    It is the function that the check called last. If the check called none because a name is missing, it is the first
    line of the message. Return "" if neither is known.
    """
    return function_of(row) or (row.outcome.message.split("\n")[0] if row.outcome.cause == "name" else "")


def _cause_order(row: GradedCheck) -> tuple[int, ...]:
    """Return the sort key of a lost check: students read the message of the smallest first.

    Causes that make other checks fail come first. Of wrong results, those of shown checks come first, because their
    messages are complete: a hidden check may fail for the same cause, but cannot show its inputs, and its rule may not
    be to blame. An exception or a wrong kind, which end any check that calls the function, are shown under the first
    rule.
    """
    cause, shown = row.outcome.cause, row.check.shown
    if cause == "shape" and not shown:  # a hidden check of values that met a wrong shape ranks as one of values
        cause = "values" if row.check.category in ("correctness", "error") else row.check.category
    place = CAUSES.index(cause) if cause in CAUSES else len(CAUSES)
    # A student who writes one function after another needs the message of the one that is there.
    if _is_unwritten(row):
        place = len(CAUSES) + 1
    if not _FIRST_RESULT <= place <= _LAST_RESULT:
        return (place,)
    number, spreads = row.check.contract[1:], cause in _ANYWHERE
    # What only hidden checks raise comes of their inputs; a value is nearer to what is wrong.
    of_inputs = cause == "raised" and not shown
    if not spreads or not number.isdigit():
        return _FIRST_RESULT, not shown, of_inputs, place
    return _FIRST_RESULT, not shown, of_inputs, _FIRST_RESULT, int(number), place


def _is_unwritten(row: GradedCheck) -> bool:
    """Return whether a check met the error that an unwritten function of the starter raises."""
    return row.outcome.verdict is Verdict.SKIPPED and row.outcome.cause == "raised"


def _has_same_cause(row: GradedCheck, cause: GradedCheck) -> bool:
    """Return whether two checks ended for the same reason.

    This is the same error at the same line, or the same wrong type.
    """
    mine, theirs = (item.outcome.message.split("\n")[0] for item in (row, cause))
    # A hidden check does not say where it was, nor why in a word of its own.
    both_shown = row.check.shown and cause.check.shown
    if row.outcome.verdict is not cause.outcome.verdict or (both_shown and row.outcome.cause != cause.outcome.cause):
        return False
    if cause.outcome.cause == "name" and "did you mean" in mine:  # each name has a remedy of its own
        return mine == theirs
    places = [_PLACE.findall(item.outcome.message) for item in (row, cause)]
    if both_shown and all(places) and places[0] != places[1]:
        return False
    kinds = _KIND.search(mine), _KIND.search(theirs)
    if kinds[0] and kinds[1]:
        return kinds[0][1] == kinds[1][1]
    heads = _RAISED.match(mine), _RAISED.match(theirs)
    if heads[0] and heads[1] and row.outcome.verdict is not Verdict.FAILED:
        return heads[0][0] == heads[1][0]
    return mine == theirs and cause.outcome.cause in _ONE_FOR_ALL
