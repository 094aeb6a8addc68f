"""What wrong answers lose is told by rule."""

from __future__ import annotations

from pathlib import Path

from grader.course.answers import Answer
from grader.model import Check, Course, GradedCheck, GradedExercise, Outcome, Score, Verdict
from grader.verify.cases import Case
from grader.verify.losses import loss_lines, loss_of
from grader.verify.proof import Proof


def graded_check(id: str, rule: str, earned: int, possible: int, undecided: int = 0) -> GradedCheck:
    outcome = Outcome(id, Verdict.PASSED if earned else Verdict.FAILED)
    return GradedCheck(Check(id, "double", id, contract=rule), outcome, Score(earned, possible, undecided))


def test_losses_are_told_by_rule(tiny: Course) -> None:
    """The rule of the check that must catch it comes first; what is undecided is not lost."""
    exercise = tiny.exercises[0]
    case = Case(exercise, "wrong", Answer(Path("triples.py"), b"", "It triples.", "small"), 0)
    rows = (
        graded_check("small", "C1", 0, 300),
        graded_check("large", "C1", 0, 100),
        graded_check("dtype", "C2", 0, 50),
        graded_check("speed", "C3", 0, 200, undecided=200),
        graded_check("kept", "C4", 350, 350),
    )
    loss = loss_of(case, GradedExercise(exercise, "started", rows, Score(350, 1000, 200)))
    assert (loss.name, loss.rule, dict(loss.lost), loss.on_others) == ("triples", "C1", {"C1": 400, "C2": 50}, 50)
    proof = Proof(exercise, losses=[loss])
    _, row, share = loss_lines([proof])
    assert row.split() == ["01-1", "triples", "4.5", "C1", "4", "C2", "0.5"]
    assert share.startswith("11 % of all points lost")
