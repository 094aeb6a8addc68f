"""A wrong answer that loses a check with some seeds only is told: luck must not decide what a student earns."""

from __future__ import annotations

from pathlib import Path

from grader.author.cases import Case
from grader.author.proof import Proof
from grader.author.steady import steady_problems
from grader.course.answers import Answer
from grader.model import Check, Course, GradedCheck, GradedExercise, Outcome, Score, Verdict


def told(course: Course, kind: str, *verdicts: Verdict) -> list[str]:
    """What is told of one answer, by the verdict of one check for each seed."""
    exercise, runs = course.exercises[0], []
    for seed, verdict in enumerate(verdicts):
        row = GradedCheck(Check("large", "double", "Large"), Outcome("large", verdict), Score(0, 100))
        case = Case(exercise, kind, Answer(Path("triples.py"), b"", "It triples.", "small"), seed)
        runs.append((case, GradedExercise(exercise, "started", (row,), Score(0, 100))))
    return list(steady_problems(Proof(exercise), runs))


def test_luck_is_told_with_a_seed_for_each_verdict(tiny: Course) -> None:
    """The sentence names the answer, the check, and how to see both."""
    (problem,) = told(tiny, "wrong", Verdict.FAILED, Verdict.FAILED, Verdict.PASSED)
    assert problem == (
        "solutions/01_basics/double/wrong/triples.py: it passes check_large with --seed 2 and not with --seed 0, so "
        "that luck decides what it earns; draw inputs which always show the mistake, or never"
    )


def test_what_is_not_decided_or_not_wrong_is_not_compared(tiny: Course) -> None:
    """An undecided verdict is none, two ways to fail cost the same, and right answers have a demand of their own."""
    assert told(tiny, "wrong", Verdict.PASSED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN) == []
    assert told(tiny, "wrong", Verdict.FAILED, Verdict.CRASHED) == []
    assert told(tiny, "right", Verdict.PASSED, Verdict.FAILED) == []
