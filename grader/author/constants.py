"""Constant answers: every function gives the same, whatever it gets. None may earn a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.author.cases import Case
from grader.author.odd import functions_asked_for
from grader.author.proof import Proof
from grader.course.answers import Answer
from grader.course.layout import Places
from grader.model import Exercise, GradedExercise
from grader.model.score import points_text

CONSTANTS = {
    "nothing": "return None",
    "zero": "return 0",
    "minus one": "return -1",
    "False": "return False",
    "True": "return True",
    "an empty tuple": "return ()",
    "an empty list": "return []",
    "an exception": "raise ValueError",
    "a zero of the argument": "return args[0].new_zeros(()) * args[0].sum()",
    "a view of the argument, set to 0": "return args[0].detach() * 0",
}
"""What each does, as a statement over `args`; no import, as a rule may forbid it."""


def constant_cases(exercise: Exercise) -> Iterator[Case]:
    """A case for each constant, which all functions of the reference give that a rule names."""
    names = functions_asked_for(exercise)
    if exercise.reference is None or not names:
        return
    for what, statement in CONSTANTS.items():
        source = "\n\n".join(f"def {name}(*args, **named):\n    {statement}\n" for name in names)
        path = exercise.reference.with_name(f"every function gives {what}")
        yield Case(exercise, "constant", Answer(path, source.encode(), "", ""), 0, odd=what)


def constant_problems(proof: Proof, found: Sequence[tuple[Case, GradedExercise]]) -> Iterator[str]:
    """Constants that earn points, each with the checks that they pass."""
    where = Places.of(proof.exercise).description.as_posix()
    for case, graded in found:
        if case.kind == "constant" and graded.score.earned:
            checks = ", ".join(row.check.id for row in graded.checks if row.score.earned)
            yield (
                f"{where}: values: {points_text(graded.score.earned)} points are for nothing: {case.answer.path.name} "
                f"({checks}); name the checks or rules that show a right value, and that no constant passes"
            )
