"""What scores are worth by the rules of a hand-in: one rule for every output."""

from __future__ import annotations

from dataclasses import replace

from grader.model import HandIn, Score
from grader.model.report import score_after_policy
from grader.model.score import final_score_of, final_score_text, total_of

SCORES = {"a": Score(1000, 1000), "b": Score(500, 1000), "c": Score(300, 500), "d": Score(0, 200)}
PLAIN = HandIn("h", "H", tuple(SCORES), None, 1.0, "H")


def standing_of(scores: dict[str, Score], handin: HandIn) -> Score:
    """What counts, as every output asks for it."""
    return score_after_policy(scores, final_score_of(scores, handin))


def test_without_rules_all_counts() -> None:
    """As it was earned, and there is nothing to explain."""
    assert final_score_of(SCORES, PLAIN) is None
    assert standing_of(SCORES, PLAIN) == Score(1800, 2700)


def test_extra_credit() -> None:
    """It is added to what was earned, and never to what can be earned; more than full marks are possible."""
    extra = replace(PLAIN, extra=("c", "d"))
    assert standing_of(SCORES, extra) == Score(1800, 2000)
    final = final_score_of(SCORES, extra)
    assert final is not None
    assert (final.bonus, final.explained) == (300, "15 of 20 points; 3 more as extra credit; final: 18")
    full = {**SCORES, "b": Score(1000, 1000)}
    assert standing_of(full, extra) == Score(2300, 2000)


def test_the_lowest_are_dropped() -> None:
    """By the share of their points, extra credit never among them, and one always stays."""
    assert total_of(SCORES, replace(PLAIN, drop=2)).dropped == ("d", "b")
    assert standing_of(SCORES, replace(PLAIN, drop=2, extra=("c",))) == Score(1300, 1000)
    assert total_of({"a": Score(0, 100)}, replace(PLAIN, drop=3)).dropped == ()


def test_a_hand_in_of_extra_credit_alone() -> None:
    """Alone it is out of its own points; a gradebook adds it to nothing that could be lost."""
    bonus = replace(PLAIN, extra=tuple(SCORES))
    assert standing_of(SCORES, bonus) == Score(1800, 2700)
    assert total_of(SCORES, bonus).score == Score(0, 0)


def test_what_is_undecided_stays_so() -> None:
    """It is neither earned nor lost, and the final score is open."""
    scores = {**SCORES, "b": Score(200, 1000, 600)}
    final = final_score_of(scores, replace(PLAIN, extra=("c",)))
    assert final is not None
    assert final.final is None
    assert score_after_policy(scores, final) == Score(1500, 2200, 600)
    text = "15 of 22 points; 6 more are undecided, neither earned nor lost"
    assert final_score_text(score_after_policy(scores, final), final) == text
