"""Wrong answers that nothing tells apart are told to their author, who can merge or part them."""

from __future__ import annotations

from pathlib import Path

from grader.author.alike import alike_notes
from grader.author.cases import Case
from grader.author.proof import Proof
from grader.course.answers import Answer
from grader.model import Check, Course, GradedCheck, GradedExercise, Outcome, Score, Verdict


def told(course: Course, details: dict[str, tuple[str, ...]], sentence: str = "") -> list[str]:
    """What is told of answers, by what their check said with each seed."""
    exercise, runs = course.exercises[0], []
    for name, texts in details.items():
        for seed, text in enumerate(texts):
            outcome = Outcome("large", Verdict.FAILED, "", text)
            row = GradedCheck(Check("large", "double", "Large"), outcome, Score(0, 100))
            case = Case(exercise, "wrong", Answer(Path(name), b"", sentence or f"It is {name}.", "large"), seed)
            runs.append((case, GradedExercise(exercise, "started", (row,), Score(0, 100))))
    return list(alike_notes(Proof(exercise), runs))


def test_two_that_behave_alike_are_told(tiny: Course) -> None:
    """The sentence names both, what a student would read, and what to do."""
    assert told(tiny, {"a.py": ("yours  3", "yours  4"), "b.py": ("yours  3", "yours  4")}) == [
        "solutions/01_basics/double/wrong: a.py, b.py behave alike with every seed, so that a student with one of "
        "these mistakes is told both sentences; merge them, or add a check which tells them apart"
    ]


def test_of_three_no_sentence_is_told(tiny: Course) -> None:
    """So the author reads that, too."""
    (note,) = told(tiny, dict.fromkeys(("a.py", "b.py", "c.py"), ("yours  3",)))
    assert "is told none of their sentences" in note


def test_what_differs_or_says_the_same_is_not_told(tiny: Course) -> None:
    """One seed may tell two apart, and two files may have one sentence."""
    assert told(tiny, {"a.py": ("yours  3", "yours  4"), "b.py": ("yours  3", "yours  5")}) == []
    assert told(tiny, dict.fromkeys(("a.py", "b.py"), ("yours  3",)), sentence="Both.") == []
