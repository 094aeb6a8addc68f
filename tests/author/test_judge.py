"""What the runs of an exercise's files show, as sentences with their remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.author.cases import AnswerRun
from grader.author.judge import (
    LONGEST_S,
    Loss,
    Proof,
    Runs,
    alike_notes,
    judge,
    loss_problems,
    losses_of,
    margin_problems,
    unsteady_problems,
)
from grader.author.verify import loss_lines, proof_lines
from grader.course.answers import Answer
from grader.model import WITHHELD, Check, Course, Exercise, GradedCheck, GradedExercise, Outcome, Score, Speed, Verdict

FOLDER = "solutions/01_basics/double"
WHERE = f"{FOLDER}/wrong/triples.py"
ANSWER = Answer(Path("triples.py"), b"", "It triples.", "small")


@pytest.fixture
def exercise(tiny: Course) -> Exercise:
    """An exercise of 10 points with the rules C1, C2 and C3."""
    return tiny.exercises[0]


def graded_check(id: str, rule: str, earned: int, possible: int, undecided: int = 0) -> GradedCheck:
    outcome = Outcome(id, Verdict.PASSED if earned else Verdict.FAILED)
    return GradedCheck(Check(id, "double", id, contract=rule), outcome, Score(earned, possible, undecided))


def run(case: AnswerRun, *outcomes: Outcome) -> tuple[AnswerRun, GradedExercise]:
    """A case, with how its checks ended."""
    rows = [GradedCheck(Check(one.check, "double", one.check), one, Score(0, 100)) for one in outcomes]
    return case, GradedExercise(case.exercise, "started", tuple(rows), Score(0, 100 * len(rows)))


# -- all runs ---------------------------------------------------------------------------------------------------------


def test_a_check_that_asserts_nothing_is_to_assert_something(exercise: Exercise, tmp_path: Path) -> None:
    """Its points are for nothing, and no key of exercise.yaml is the remedy; of another check it is."""
    path = tmp_path / "check_double.py"
    path.write_text(
        "from grader.check import assert_values, check\n\n\ndef _look(student):\n    print(student.double(1))\n\n\n"
        '@check("C1")\ndef check_look(student):\n    _look(student)\n\n\n'
        '@check("C1")\ndef check_small(student):\n    assert_values(student.double(0), 0)\n'
    )
    exercise = replace(exercise, hidden_checks=path)
    case = AnswerRun(exercise, "constant", replace(ANSWER, path=Path("every function gives zero")), 0)
    rows = (graded_check("look", "C1", 100, 100), graded_check("small", "C1", 50, 50))
    problems = judge(exercise, [], [(case, GradedExercise(exercise, "started", rows, Score(150, 150)))]).problems
    assert problems == [
        f"{FOLDER}/check_double.py: check_look: it asserts nothing, so every answer that does not raise has its "
        "points; assert what student code returns, or remove the check",
        "exercises/01_basics/double/exercise.yaml: values: 1.5 points are for nothing: every function gives zero "
        "(small); name the checks or rules that show a right value, and that no constant passes",
    ]


@pytest.mark.parametrize(
    ("text", "asks"), [("expected x to be an odd thing for float64", False), ("x adds up to 3", True)]
)
def test_only_a_message_with_numbers_must_lose_them(exercise: Exercise, text: str, asks: bool) -> None:
    """A message whose words are unknown, and which has no number, needs other words alone."""
    case = AnswerRun(exercise, "unusual", ANSWER, 0)
    ended = Outcome("random", Verdict.FAILED, "", detail=f"{WITHHELD}: {text}")
    row = GradedCheck(Check("random", "double", "random", shown=False), ended, Score(0, 100))
    (problem,) = judge(exercise, [], [(case, GradedExercise(exercise, "started", (row,), Score(0, 100)))]).problems
    assert f"check_random: students cannot read its message ({text})" in problem
    assert problem.endswith("; name the property in words of the file" + ", and put numbers into the story" * asks)


def test_a_check_at_fault_is_one_problem(exercise: Exercise) -> None:
    """However many answers meet it: the first is named, and the others are counted."""
    fault = Outcome("random", Verdict.BROKEN, "", detail="NameError: name 'x' is not defined")
    answers = [replace(ANSWER, path=Path(f"{number}.py")) for number in range(3)]
    kinds = ["reference", "unusual", "unusual"]
    cases = [AnswerRun(exercise, kind, answer, 0) for kind, answer in zip(kinds, answers, strict=True)]
    (problem,) = judge(exercise, [], [run(case, fault) for case in cases]).problems
    assert f"{FOLDER}/0.py: check_random is at fault itself (NameError" in problem
    assert problem.endswith("; so it is with 2 more answers")


def test_no_problem_hides_another(exercise: Exercise) -> None:
    """A check that is at fault hides none that fails, nor one that always fails another that fails with some seeds."""
    fault = Outcome("random", Verdict.BROKEN, "", detail="NameError: name 'x' is not defined")
    cases = [AnswerRun(exercise, "reference", ANSWER, seed) for seed in range(2)]
    always, sometimes = ([Outcome(name, verdict, "not 3") for verdict in (Verdict.PASSED, Verdict.FAILED)]
                         for name in ("small", "large"))  # fmt: skip
    runs = [run(cases[0], fault, always[1], sometimes[0]), run(cases[1], fault, always[1], sometimes[1])]
    where = f"{FOLDER}/{ANSWER.path.name}"
    assert judge(exercise, [], runs).problems == [
        f"{where}: check_random is at fault itself (NameError: name 'x' is not defined); fix it (first with --seed 0)",
        f"{where}: the reference does not pass check_small (not 3); fix one of the two (first with --seed 0)",
        f"{where}: the reference does not pass check_large (not 3); fix one of the two (first with --seed 1)",
    ]


def test_a_busy_machine_makes_no_reference_too_slow(exercise: Exercise) -> None:
    """A reference is too slow if each of its runs takes longer than the limit, and not if one does."""
    slow, quick = (Outcome("random", Verdict.PASSED, seconds=LONGEST_S * factor) for factor in (1.5, 0.5))
    cases = [AnswerRun(exercise, "reference", ANSWER, seed) for seed in range(2)]
    assert judge(exercise, [], [run(cases[0], slow), run(cases[1], quick)]).problems == []
    (problem,) = judge(exercise, [], [run(case, slow) for case in cases]).problems
    assert "the reference takes 15.0 s; make inputs smaller" in problem


def test_no_full_marks_where_nothing_is_decided(exercise: Exercise) -> None:
    """The author gets a question about unusual answers that lose nothing, not about those without a verdict."""
    case = AnswerRun(exercise, "unusual", ANSWER, 0, unusual_result="detached")
    asked, silent = (judge(exercise, [], [run(case, Outcome("x", v))]) for v in (Verdict.PASSED, Verdict.NOT_RUN))
    assert [len(asked.notes), asked.problems] == [1, []]
    assert [silent.notes, silent.problems] == [[], []]


def test_a_check_that_ends_at_a_weak_first_input_is_noted(exercise: Exercise) -> None:
    """If it makes more calls, which would tell mistakes apart; a check of one call has nothing behind it."""
    right, wrong = AnswerRun(exercise, "reference", ANSWER, 0), AnswerRun(exercise, "wrong", ANSWER, 0)
    ended = Outcome("small", Verdict.FAILED, calls=1, at_weak_input=True)
    notes = [
        judge(exercise, [], [run(right, Outcome("small", Verdict.PASSED, calls=calls)), run(wrong, ended)]).notes
        for calls in (1, 2)
    ]
    assert [len(each) for each in notes] == [0, 1]
    where = f"{FOLDER}: check_small: its first call has an empty or constant input, at which it ends for triples.py;"
    assert notes[1][0].startswith(where)


def test_a_wrong_answer_without_a_verdict_proves_nothing(exercise: Exercise) -> None:
    """A check that could not tell did not catch the mistake; one that needs what is not here is noted apart."""
    case = AnswerRun(exercise, "wrong", ANSWER, 0)
    unclear, elsewhere = (
        judge(exercise, [], [run(case, Outcome("small", verdict))])
        for verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_RUN)
    )
    (problem,) = unclear.problems
    assert f"{WHERE}: it gets no verdict from check_small; make its measurement clearer" in problem
    assert [unclear.unproved, elsewhere.unproved, elsewhere.problems] == [[], ["triples.py"], []]


# -- limits of speed --------------------------------------------------------------------------------------------------


def speeds(exercise: Exercise, at_most: float, *ratios: tuple[float, float], kind: str = "reference") -> list[str]:
    """The problems of runs of a file, each with the ratio that was measured and where it lies at least."""
    against = "the reference" if at_most >= 1 else "the loop you were given"
    runs = []
    for seed, (ratio, low) in enumerate(ratios):
        row = Speed("", against, ratio, low, ratio, at_most, 1.0, 1.0, 5, 1)
        outcomes = Outcome("other", Verdict.PASSED), Outcome("speed", Verdict.PASSED, speed=(row,))
        runs.append(run(AnswerRun(exercise, kind, ANSWER, seed), *outcomes))
    return list(margin_problems(exercise, runs))


def test_a_near_limit_is_reported_with_the_remedy(exercise: Exercise) -> None:
    """Exercise, check, what was measured, what is expected, and what could be."""
    assert speeds(exercise, 1 / 100, (0.006, 0.005), (0.0053, 0.005), (0.0051, 0.005)) == [
        f"{FOLDER}: check_speed: our own answer is 200 times as fast as the loop you were given, at least 100 is "
        "expected; that is only 2 times from the limit, and 3.3 is needed (the median of 3 runs): write "
        "at_least=60.6 or less"
    ]
    assert speeds(exercise, 3.0, (0.9, 0.8)) == [
        f"{FOLDER}: check_speed: our own answer takes 1 times as long as the reference, at most 3 is allowed; that is "
        "only 3 times from the limit, and 3.3 is needed (the median of 1 run): write at_most=3.3 or more"
    ]


@pytest.mark.parametrize(
    ("at_most", "ratios"),
    [
        pytest.param(3.5, [(1.0, 0.98), (1.1, 1.0)], id="far"),
        pytest.param(3.5, [(1.0, 0.97), (1.9, 1.7), (1.0, 0.99)], id="one run of several was disturbed"),
        pytest.param(3.5, [(1.8, 0.95)], id="the only run was disturbed in some of its samples"),
        pytest.param(0.01, [(0.002, 0.0013)], id="fast"),
    ],
)
def test_load_refuses_no_limit(exercise: Exercise, at_most: float, ratios: list[tuple[float, float]]) -> None:
    """What is judged is where the ratio lies at least, in the middle one of the runs; of the reference alone."""
    assert speeds(exercise, at_most, *ratios) == []
    assert speeds(exercise, 3.0, (2.9, 2.8), kind="wrong") == []


# -- what wrong answers lose ------------------------------------------------------------------------------------------


def problems_of(exercise: Exercise, breaks: tuple[str, ...] = (), **lost: float) -> list[str]:
    """The problems of one wrong answer that breaks C1 and loses so much."""
    return list(loss_problems(exercise, [Loss("triples.py", "C1", breaks, lost, frozenset({"C3"}))]))


def test_losses_by_rule(exercise: Exercise) -> None:
    """In the mean over seeds, its own rules first; what is undecided is not lost."""
    answer = replace(ANSWER, breaks=("C4",))
    rows = (
        graded_check("small", "C1", 0, 300),
        graded_check("large", "C1", 0, 100),
        graded_check("dtype", "C2", 0, 50),
        graded_check("speed", "C3", 0, 200, undecided=200),
        graded_check("memory", "C4", 350, 350),
    )
    once = GradedExercise(exercise, "started", rows, Score(350, 1000, 200))
    again = replace(once, checks=(*rows[:2], graded_check("dtype", "C2", 50, 50), *rows[3:]))
    runs = [(AnswerRun(exercise, "wrong", answer, seed), graded) for seed, graded in enumerate((once, again))]
    runs.append((AnswerRun(exercise, "right", replace(answer, path=Path("right.py")), 0), once))
    (loss,) = losses_of(runs)
    assert loss == Loss("triples.py", "C1", ("C4",), {"C1": 400, "C2": 25}, frozenset({"C3"}))
    assert loss.lost_on_other_rules == {"C2": 25}
    proof = Proof(exercise, losses=[loss])
    assert [line.split() for line in loss_lines([proof])][1] == ["01-1", "triples", "4.25", "C1,C4", "4", "C2", "0.25"]
    assert "6 % of the points that wrong answers lose are for rules that they obey" in proof_lines([proof])
    assert list(proof_lines([Proof(exercise)]))[2:] == ["", "No problems found."]


def test_what_is_held_back_is_lost_on_the_rule_that_is_broken(exercise: Exercise) -> None:
    """That is the rule with the cap, or, where no value was right, the one that the wrong answer breaks."""
    rows = graded_check("small", "C1", 0, 300), graded_check("speed", "C3", 0, 100)
    capped = replace(graded_check("dtype", "C2", 100, 300), held_back=200)
    graded = GradedExercise(exercise, "started", (*rows, capped), Score(100, 700))
    case = AnswerRun(exercise, "wrong", ANSWER, 0)
    (loss,) = losses_of([(case, replace(graded, held_by="C3"))])
    assert loss.lost == {"C1": 300, "C3": 300}
    (without_a_value,) = losses_of([(case, graded)])
    assert without_a_value.lost == {"C1": 500, "C3": 100}


def test_a_tenth_may_go_on_rules_that_are_kept(exercise: Exercise) -> None:
    """Up to a tenth of the points nothing is said; beyond, what to do, unless the file says which rules it breaks."""
    assert problems_of(exercise, C1=500, C2=50, C3=50) == []
    assert problems_of(exercise, C1=500, C2=50, C3=51) == [
        f"{WHERE}: it breaks C1, and loses 1.01 of 10 points on rules that it keeps (C2 0.5, C3 0.51); let the checks "
        "of these need no more than their rule, or, if it breaks them by its nature, write  breaks: C1, C2, C3"
    ]
    assert problems_of(exercise, ("C1", "C2"), C1=500, C2=300) == []
    assert problems_of(exercise, ("C9",), C1=500) == [f"{WHERE}: breaks: there is no rule C9; the rules are C1, C2, C3"]
    assert problems_of(exercise, ("C2",), C1=500) == [
        f"{WHERE}: breaks: it loses nothing on C2; remove that, or write a check that notices it"
    ]
    assert problems_of(exercise, ("C3",), C1=500) == []  # which could not be decided here


# -- wrong answers, seed by seed --------------------------------------------------------------------------------------


def with_verdicts(exercise: Exercise, kind: str, *verdicts: Verdict) -> list[str]:
    """What is said of one answer, by the verdict of one check for each seed."""
    runs = [run(AnswerRun(exercise, kind, ANSWER, seed), Outcome("large", one)) for seed, one in enumerate(verdicts)]
    return list(unsteady_problems(exercise, runs))


def test_luck_is_reported_with_a_seed_for_each_verdict(exercise: Exercise) -> None:
    """The sentence names the answer, the check, and how to see both; what is undecided or right is not compared."""
    assert with_verdicts(exercise, "wrong", Verdict.FAILED, Verdict.FAILED, Verdict.PASSED) == [
        f"{WHERE}: it passes check_large with --seed 2 and not with --seed 0, so that luck decides what it earns; draw "
        "inputs that always show the mistake, or never"
    ]
    assert with_verdicts(exercise, "wrong", Verdict.PASSED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN) == []
    assert with_verdicts(exercise, "wrong", Verdict.FAILED, Verdict.CRASHED) == []
    assert with_verdicts(exercise, "right", Verdict.PASSED, Verdict.FAILED) == []


def notes(exercise: Exercise, details: dict[str, Sequence[str]], sentence: str = "") -> list[str]:
    """What is said of answers, by the text of their check with each seed."""
    runs: Runs = [
        run(
            AnswerRun(exercise, "wrong", Answer(Path(name), b"", sentence or f"It is {name}.", "large"), seed),
            Outcome("large", Verdict.FAILED, "", text),
        )
        for name, texts in details.items()
        for seed, text in enumerate(texts)
    ]
    return list(alike_notes(exercise, runs))


def test_two_that_behave_alike_are_reported(exercise: Exercise) -> None:
    """The sentence names both, and what to do; of three, no sentence is read; one seed may tell two apart."""
    assert notes(exercise, {"a.py": ("yours  3", "yours  4"), "b.py": ("yours  3", "yours  4")}) == [
        f"{FOLDER}: the wrong answers a.py, b.py behave alike with every seed, up to the input at which each check "
        "ends. Unless a later input distinguishes them, a student with one of these mistakes reads both sentences; "
        "merge them, or add a check that distinguishes them"
    ]
    (note,) = notes(exercise, dict.fromkeys(("a.py", "b.py", "c.py"), ("yours  3",)))
    assert "reads none of their sentences" in note
    assert notes(exercise, {"a.py": ("yours  3", "yours  4"), "b.py": ("yours  3", "yours  5")}) == []
    assert notes(exercise, dict.fromkeys(("a.py", "b.py"), ("yours  3",)), sentence="Both.") == []
