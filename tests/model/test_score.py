"""Points are exact: shares add up to the hundredth, and what is undecided is neither earned nor lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model import Check, Outcome, Verdict
from grader.model.score import divide, points_text, score


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 100), min_size=1, max_size=30))
def test_parts_add_up(points: int, shares: list[int]) -> None:
    """The parts add up exactly, and none is further than a tenth of a point from its share."""
    parts = divide(points, shares)
    total = sum(shares)
    if total:
        assert sum(parts) == points
        assert all(abs(part * total - points * share) < 10 * total for part, share in zip(parts, shares, strict=True))
    else:
        assert parts == [0] * len(shares)


@settings(deadline=None)
@given(st.integers(1, 100), st.lists(st.integers(1, 3), min_size=2, max_size=25), st.integers(1, 24))
def test_parts_are_tenths(points: int, shares: list[int], shown: int) -> None:
    """Points come in tenths where each share gets one, and the first ones do not depend on how the rest is divided."""
    parts = divide(100 * points, shares)
    if all(points * 10 * share >= sum(shares) for share in shares):
        assert all(part % 10 == 0 and part > 0 for part in parts)
        assert divide(100 * points, [*shares[:shown], sum(shares[shown:])])[: len(shares[:shown])] == parts[:shown]


def test_twenty_two_shares() -> None:
    """Ten points for twenty-two equal shares are fours and fives, and never 0.46."""
    assert set(divide(1000, [1] * 22)) == {40, 50}
    assert divide(100, [1] * 40)[:2] == [3, 2]


def test_verdicts_and_points() -> None:
    """Only a pass earns; broken, not run and inconclusive are undecided; what is withheld gets its share."""
    verdicts = list(Verdict)
    checks = [Check(str(i), "x", "t") for i, _ in enumerate(verdicts)]
    outcomes = [Outcome(str(i), verdict) for i, verdict in enumerate(verdicts)]
    rows, withheld = score(1000, checks, outcomes, withheld_shares=1)
    assert sum(row.score.possible for row in rows) + withheld == 1000
    earned = {row.outcome.verdict for row in rows if row.score.earned}
    undecided = {row.outcome.verdict for row in rows if row.score.undecided}
    assert earned == {Verdict.PASSED}
    assert undecided == {Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN}


def test_points_as_text() -> None:
    """Points are written as a person writes them."""
    assert [points_text(value) for value in (0, 700, 750, 725, 1000)] == ["0", "7", "7.5", "7.25", "10"]
