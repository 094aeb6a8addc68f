"""The course of examples/: what others take their first exercises from holds."""

from __future__ import annotations

from pathlib import Path

from support import verified

from grader.course.load import load_course

COURSE = Path(__file__).resolve().parents[2] / "examples" / "puzzles_and_layers"
LEAST_WRONG = 3


def test_a_puzzle_and_a_layer_are_proved() -> None:
    """The whole course loads, each exercise has three wrong answers, and of two of them there is nothing to fix."""
    course = load_course(COURSE)
    assert len(course.exercises) == 12
    assert [item.id for item in course.exercises if len(item.wrong) < LEAST_WRONG] == []
    chosen = [item for item in course.exercises if item.id in ("outer", "embedding")]
    assert [proof.problems for proof in verified(course, chosen)] == [[], []]
