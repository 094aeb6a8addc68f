"""Outcomes → points. Exact arithmetic in hundredths of a point, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from grader.model.check import Check, Outcome, Verdict
from grader.model.report import GradedCheck, Score

_TENTH = 10


def divide(points: int, shares: Sequence[int]) -> list[int]:
    """Divide hundredths of a point among shares: in tenths of a point, which add up exactly.

    The parts up to each place add up to their due, rounded. So the first ones are the same whatever the rest is divided
    into, which a copy without hidden checks does not know. Hundredths are given where a tenth is too coarse.
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


def score(
    points: int, checks: Sequence[Check], outcomes: Sequence[Outcome], withheld_shares: int
) -> tuple[list[GradedCheck], int]:
    """Give each check its points; also the points that withheld checks decide."""
    *parts, withheld = divide(points, [*(check.share for check in checks), withheld_shares])
    graded = []
    for check, outcome, part in zip(checks, outcomes, parts, strict=True):
        earned = part if outcome.verdict is Verdict.PASSED else 0
        undecided = 0 if outcome.verdict.decided else part
        graded.append(GradedCheck(check, outcome, Score(earned, part, undecided)))
    return graded, withheld


def in_points(hundredths: int) -> float:
    """Points as a number for JSON and tables; exact to the hundredth."""
    return hundredths / 100


def counted(number: int, what: str) -> str:
    """How many of something, as a person writes it: 1 author, 2 authors."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def points_text(hundredths: int) -> str:
    """Points as a person writes them: 7, 7.5, 7.25."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
