"""Outcomes → points. Exact arithmetic in hundredths of a point, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from grader.model.check import Check, Outcome, Verdict
from grader.model.report import GradedCheck, Score


def divide(points: int, shares: Sequence[int]) -> list[int]:
    """Divide hundredths of a point among shares, so that the parts add up exactly.

    What is left after rounding down goes to the largest remainders, earlier ones first.
    """
    total = sum(shares)
    if total == 0:
        return [0 for _ in shares]
    parts = [points * share // total for share in shares]
    order = sorted(range(len(shares)), key=lambda i: (-(points * shares[i] % total), i))
    for i in order[: points - sum(parts)]:
        parts[i] += 1
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


def points_text(hundredths: int) -> str:
    """Points as a person writes them: 7, 7.5, 7.25."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
