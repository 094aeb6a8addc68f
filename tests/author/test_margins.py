"""A limit of speed that is near to our own answer is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.author.cases import Case
from grader.author.margins import margin_problems
from grader.course.answers import Answer
from grader.model import Course, Outcome, Speed, Verdict

Found = Sequence[tuple[Case, Sequence[Outcome]]]


def runs(course: Course, at_most: float, *ratios: tuple[float, float], kind: str = "reference") -> Found:
    """Runs of a file, each with the ratio that was found and where it lies at least."""
    against = "the reference" if at_most >= 1 else "the loop you were given"
    answer = Answer(Path("double.py"), b"", "", "")
    found = []
    for seed, (ratio, low) in enumerate(ratios):
        row = Speed("", against, ratio, low, ratio, at_most, 1.0, 1.0, 5, 1)
        outcomes = [Outcome("kept", Verdict.PASSED), Outcome("speed", Verdict.PASSED, speed=(row,))]
        found.append((Case(course.exercises[0], kind, answer, seed), outcomes))
    return found


def problems(course: Course, found: Found) -> list[str]:
    return list(margin_problems(course.exercises[0], found))


def test_a_near_limit_is_told_with_the_remedy(tiny: Course) -> None:
    """Exercise, check, what was measured, what is asked, and what could be asked."""
    assert problems(tiny, runs(tiny, 1 / 100, (0.006, 0.005), (0.0053, 0.005), (0.0051, 0.005))) == [
        "solutions/01_basics/double: check_speed: our own answer is 200 times as fast as the loop you were given, at "
        "least 100 is asked; that is only 2 times from the limit, and 3.3 is needed (the median of 3 runs): ask for "
        "at_least=60.6 or less"
    ]
    assert problems(tiny, runs(tiny, 3.0, (0.9, 0.8))) == [
        "solutions/01_basics/double: check_speed: our own answer takes 1 times as long as the reference, at most 3 is "
        "asked; that is only 3 times from the limit, and 3.3 is needed (the median of 1 run): ask for at_most=3.3 or "
        "more"
    ]


@pytest.mark.parametrize(
    ("at_most", "ratios"),
    [
        pytest.param(3.5, [(1.0, 0.98), (1.1, 1.0)], id="far"),
        pytest.param(3.5, [(1.0, 0.97), (1.9, 1.7), (1.0, 0.99)], id="one run of several was disturbed"),
        pytest.param(3.5, [(1.8, 0.95)], id="the only run was disturbed in some of its laps"),
        pytest.param(0.01, [(0.002, 0.0013)], id="fast"),
    ],
)
def test_load_refuses_no_limit(tiny: Course, at_most: float, ratios: list[tuple[float, float]]) -> None:
    """What is judged is where the ratio lies at least, in the middle one of the runs."""
    assert problems(tiny, runs(tiny, at_most, *ratios)) == []


def test_our_own_answer_alone_is_looked_at(tiny: Course) -> None:
    """How fast wrong answers and other right ones are is a matter for the check."""
    assert problems(tiny, runs(tiny, 3.0, (2.9, 2.8), kind="wrong")) == []
