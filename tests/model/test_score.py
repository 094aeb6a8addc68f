"""Points are exact: shares add up to the hundredth, and what is undecided is neither earned nor lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model import Check, Outcome, Verdict
from grader.model.score import divide, held_back_text, hold_back, points_text, score_checks


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
    assert set(divide(1000, [1] * 22)) == {40, 50}  # never 0.46
    assert divide(100, [1] * 40)[:2] == [3, 2]


def test_verdicts_and_points() -> None:
    """Only a pass earns; broken, not run and inconclusive are undecided; what is withheld gets its share."""
    verdicts = list(Verdict)
    checks = [Check(str(i), "x", "t") for i, _ in enumerate(verdicts)]
    outcomes = [Outcome(str(i), verdict) for i, verdict in enumerate(verdicts)]
    rows, withheld = score_checks(1000, checks, outcomes, withheld_shares=1)
    assert sum(row.score.possible for row in rows) + withheld == 1000
    earned = {row.outcome.verdict for row in rows if row.score.earned}
    undecided = {row.outcome.verdict for row in rows if row.score.undecided}
    assert earned == {Verdict.PASSED}
    assert undecided == {Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN}


CHECKS = (
    Check("sum", "x", "t", "C1"),
    Check("random[0]", "x", "t", "C1", shown=False),
    Check("kept", "x", "t", "C2", "memory"),
    Check("own", "x", "t", "C3"),
    Check("fast", "x", "t", "C4", "performance"),
)


def held(
    passed: Sequence[str],
    verdict: Verdict = Verdict.FAILED,
    values: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    *,
    withheld: bool = False,
) -> tuple[list[int], list[int], str | None]:
    """Points that count and points that are held back, of five checks with 2 points each, and the rule that caps them.

    All checks that are not named end with the verdict.
    """
    outcomes = [Outcome(check.id, Verdict.PASSED if check.id in passed else verdict) for check in CHECKS]
    rows, _ = score_checks(1000, CHECKS, outcomes, 0)
    rows, rule = hold_back(rows, values, caps or {}, withheld=withheld)
    assert [row.score.possible for row in rows] == [200] * 5
    return [row.score.earned for row in rows], [row.held_back for row in rows], rule


def test_without_a_right_value_nothing_counts() -> None:
    """What other rules earn is held back until a check of category correctness, or of those that are named, passes."""
    assert held(["kept", "fast"]) == ([0] * 5, [0, 0, 200, 0, 200], None)
    assert held(["sum", "kept", "fast"]) == ([200, 0, 200, 0, 200], [0] * 5, None)
    assert held(["kept", "own"]) == ([0, 0, 200, 200, 0], [0] * 5, None)
    assert held(["kept", "own"], values=["C1"]) == ([0] * 5, [0, 0, 200, 200, 0], None)
    assert held(["own", "random[0]"], values=["random"]) == ([0, 200, 0, 200, 0], [0] * 5, None)
    # A check of a rule with a cap is of category correctness, too, but a constant passes it.
    assert held(["kept", "own"], caps={"C3": 300}) == ([0] * 5, [0, 0, 200, 200, 0], None)
    assert held(["own", "sum"], values=["random"]) == ([0] * 5, [200, 0, 0, 200, 0], None)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if not verdict.is_decided])
def test_what_could_not_be_judged_may_have_been_right(verdict: Verdict) -> None:
    """A value check without a verdict holds nothing back, and no cap applies to a rule without one."""
    assert held(["kept"], verdict, caps={"C3": 0}) == ([0, 0, 200, 0, 0], [0] * 5, None)


def test_withheld_checks_may_have_been_right() -> None:
    """A copy without all checks holds nothing back for want of a right value; a cap holds there as well."""
    assert held(["kept", "fast"], withheld=True) == ([0, 0, 200, 0, 200], [0] * 5, None)
    assert held(["kept", "fast"], caps={"C3": 300}, withheld=True) == ([0, 0, 200, 0, 100], [0, 0, 0, 0, 100], "C3")


def test_a_rule_caps_the_exercise() -> None:
    """While a check of it is lost, the first checks keep their points up to the cap; the lowest cap decides."""
    most = ["sum", "random[0]", "kept", "fast"]
    assert held(most, caps={"C3": 300}) == ([200, 100, 0, 0, 0], [0, 100, 200, 0, 200], "C3")
    assert held(most, caps={"C3": 0}) == ([0] * 5, [200, 200, 200, 0, 200], "C3")
    assert held(most, caps={"C3": 800}) == ([200, 200, 200, 0, 200], [0] * 5, None)
    assert held(["sum", "kept"], caps={"C3": 300, "C4": 100}) == ([100, 0, 0, 0, 0], [100, 0, 200, 0, 0], "C4")
    assert held(most, caps={"C4": 300}) == ([200, 200, 200, 0, 200], [0] * 5, None)
    assert held(["sum", "kept"], caps={"random": 100, "C3": 300}) == ([100, 0, 0, 0, 0], [100, 0, 200, 0, 0], "C1")


def test_a_cap_holds_when_a_check_of_its_rule_crashes() -> None:
    """Whoever raises where the rule is examined keeps no more than who breaks it, also with a wrong value."""
    for verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT):
        assert held(["sum", "kept"], verdict, caps={"C4": 100}) == ([100, 0, 0, 0, 0], [100, 0, 200, 0, 0], "C4")


def test_a_cap_holds_where_a_shape_is_wrong() -> None:
    """A wrong shape in the check of a capped rule, and a wrong value besides, keep no more than the rule broken."""
    ends = {"sum": Verdict.PASSED, "kept": Verdict.PASSED}
    outcomes = [Outcome(check.id, ends.get(check.id, Verdict.FAILED)) for check in CHECKS]
    outcomes = [replace(one, cause="shape") if one.check == "fast" else one for one in outcomes]
    rows, rule = hold_back(score_checks(1000, CHECKS, outcomes, 0)[0], [], {"C4": 100}, withheld=False)
    assert (sum(row.score.earned for row in rows), rule) == (100, "C4")


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.SKIPPED])
def test_what_was_not_judged_caps_only_where_all_values_are_right(verdict: Verdict) -> None:
    """A wrong value may be why a check of the rule ends early; with right values alone the rule itself must be."""
    assert held(["sum", "kept"], verdict, caps={"C4": 100}) == ([200, 0, 200, 0, 0], [0] * 5, None)
    assert held(["sum", "kept"], verdict, ["sum"], {"C4": 100}) == ([100, 0, 0, 0, 0], [100, 0, 200, 0, 0], "C4")


def test_a_value_check_that_crashes_caps() -> None:
    """There the crash is the wrong value; a function that is not written yet caps nothing."""
    capped = ([100, 0, 0, 0, 0], [100, 0, 200, 0, 0], "C1")
    assert held(["sum", "kept"], Verdict.CRASHED, ["C1"], {"random": 100}) == capped
    assert held(["sum", "kept"], Verdict.SKIPPED, ["C1"], {"random": 100}) == ([200, 0, 200, 0, 0], [0] * 5, None)


def test_points_as_text() -> None:
    """As a person writes them; one sentence names the rule that caps the exercise, or says that no value was right."""
    assert [points_text(value) for value in (0, 700, 750, 725, 1000)] == ["0", "7", "7.5", "7.25", "10"]
    assert held_back_text(0, None) == ""
    assert (
        held_back_text(150, None)
        == "No points yet: 1.5 earned on other rules do not count, because no value was right."
    )
    assert "rule C6" in held_back_text(150, "C6")
