"""What wrong answers lose is told by rule; who loses much on rules that are kept is told to mend or to say why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.author.cases import Case
from grader.author.losses import loss_lines, loss_problems, losses_of, share_lines
from grader.author.proof import Loss, Proof
from grader.course.answers import Answer
from grader.model import Check, Course, GradedCheck, GradedExercise, Outcome, Score, Verdict

WHERE = "solutions/01_basics/double/wrong/triples.py"


def graded_check(id: str, rule: str, earned: int, possible: int, undecided: int = 0) -> GradedCheck:
    outcome = Outcome(id, Verdict.PASSED if earned else Verdict.FAILED)
    return GradedCheck(Check(id, "double", id, contract=rule), outcome, Score(earned, possible, undecided))


def proof_of(course: Course, breaks: tuple[str, ...] = (), **lost: float) -> Proof:
    """The proof of an exercise of 10 points, with one wrong answer that breaks C1 and loses so much."""
    return Proof(course.exercises[0], losses=[Loss("triples.py", "C1", breaks, lost, frozenset({"C3"}))])


def test_losses_are_told_by_rule(tiny: Course) -> None:
    """In the mean over seeds, its own rules first; what is undecided is not lost."""
    exercise = tiny.exercises[0]
    answer = Answer(Path("triples.py"), b"", "It triples.", "small", ("C4",))
    rows = (
        graded_check("small", "C1", 0, 300),
        graded_check("large", "C1", 0, 100),
        graded_check("dtype", "C2", 0, 50),
        graded_check("speed", "C3", 0, 200, undecided=200),
        graded_check("kept", "C4", 350, 350),
    )
    once = GradedExercise(exercise, "started", rows, Score(350, 1000, 200))
    again = replace(once, checks=(*rows[:2], graded_check("dtype", "C2", 50, 50), *rows[3:]))
    runs = [(Case(exercise, "wrong", answer, seed), graded) for seed, graded in enumerate((once, again))]
    runs.append((Case(exercise, "right", replace(answer, path=Path("right.py")), 0), once))
    (loss,) = losses_of(runs)
    assert loss == Loss("triples.py", "C1", ("C4",), {"C1": 400, "C2": 25}, frozenset({"C3"}))
    assert loss.on_others == 25
    proof = Proof(exercise, losses=[loss])
    assert [line.split() for line in loss_lines([proof])][1] == ["01-1", "triples", "4.25", "C1,C4", "4", "C2", "0.25"]
    assert list(share_lines([proof])) == ["6 % of the points that wrong answers lose lie on rules that they keep"]
    assert list(share_lines([])) == []


def test_what_is_held_back_is_lost_on_the_rule_that_is_broken(tiny: Course) -> None:
    """That is the rule with the cap, or, where no value was right, the one that the wrong answer breaks."""
    exercise = tiny.exercises[0]
    answer = Answer(Path("triples.py"), b"", "It triples.", "small")
    rows = graded_check("small", "C1", 0, 300), graded_check("speed", "C3", 0, 100)
    kept = replace(graded_check("dtype", "C2", 100, 300), held_back=200)
    graded = GradedExercise(exercise, "started", (*rows, kept), Score(100, 700))
    case = Case(exercise, "wrong", answer, 0)
    (capped,) = losses_of([(case, replace(graded, held_by="C3"))])
    assert capped.lost == {"C1": 300, "C3": 300}
    (without_a_value,) = losses_of([(case, graded)])
    assert without_a_value.lost == {"C1": 500, "C3": 100}


def test_a_tenth_may_go_on_rules_that_are_kept(tiny: Course) -> None:
    """Up to a tenth of the exercise's points nothing is said; beyond, what to do."""
    assert list(loss_problems(proof_of(tiny, C1=500, C2=50, C3=50))) == []
    (problem,) = loss_problems(proof_of(tiny, C1=500, C2=50, C3=51))
    assert problem == (
        f"{WHERE}: it breaks C1, and loses 1.01 of 10 points on rules that it keeps (C2 0.5, C3 0.51); let the checks "
        "of these need no more than their rule, or, if it breaks them by its nature, write  breaks: C1, C2, C3"
    )


def test_the_file_may_say_why(tiny: Course) -> None:
    """Rules that it breaks by its nature are its own; each must exist, and be lost on."""
    assert list(loss_problems(proof_of(tiny, ("C1", "C2"), C1=500, C2=300))) == []
    assert list(loss_problems(proof_of(tiny, ("C9",), C1=500))) == [
        f"{WHERE}: breaks: there is no rule C9; the rules are C1, C2, C3"
    ]
    assert list(loss_problems(proof_of(tiny, ("C2",), C1=500))) == [
        f"{WHERE}: breaks: it loses nothing on C2; remove that, or write a check which sees it"
    ]
    assert list(loss_problems(proof_of(tiny, ("C3",), C1=500))) == []  # which could not be decided here
