"""A submission as a new wrong answer: its code, and nothing that tells whose it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.grading.unexplained import SimilarSubmissions, add_to_group, draft_text, is_unexplained, named_groups
from grader.intake.code import without_names
from grader.model import (
    Check,
    Course,
    Exercise,
    GradedCheck,
    GradedExercise,
    Mistake,
    Outcome,
    Score,
    Verdict,
)

HEAD = '"""TODO: say what the mistake is, and what is right instead, in one sentence for students.\n\n'


@pytest.fixture
def double(tiny: Course) -> Exercise:
    """An exercise of two functions."""
    return tiny.exercises[0]


def lost(exercise: Exercise, *rows: tuple[str, str, str, str]) -> GradedExercise:
    """It, graded: the id, rule, category and verdict of each check."""
    checks = tuple(
        GradedCheck(
            Check(id, exercise.id, "t", rule, category), Outcome(id, Verdict(verdict), cause="values"), Score(0, 10)
        )
        for id, rule, category, verdict in rows
    )
    return GradedExercise(exercise, "started", checks, Score(0, 10))


FAILED = ("small", "C1", "correctness", "failed")


def test_who_it_is_of_goes_out(double: Exercise) -> None:
    """Comments, docstrings, what runs it as a program, addresses, and the name in whatever is defined."""
    text = (
        '"""Ada Lovelace, s1234567."""\n# Ada\n__author__ = "ada@x.org"\n\n\ndef ada_helper(x):\n    """By Ada."""\n'
        '    return x * 3  # Ada\n\n\ndef double(x):\n    """Of LOVELACE."""\n    s1234567 = ada_helper(x)\n'
        '    return s1234567\n\n\nif __name__ == "__main__":\n    print("Ada")\n'
    )
    told = draft_text(lost(double, FAILED), text.encode(), ["lovelace_ada_1234567", "Ada Lovelace"])
    assert told == (
        f'{HEAD}caught by: small\n"""\n\n__author__ = \'student\'\n\n\ndef student_helper(x):\n    return x * 3\n\n\n'
        "def double(x):\n    s0 = student_helper(x)\n    return s0\n"
    )
    # Also where somebody is called like a function, a method or a word of Python, the course's words stay.
    text = "def double(x):\n    return x.sum()\n"
    assert draft_text(lost(double, FAILED), text.encode(), ["Return Double", "sum"]).endswith(text)


def test_rules(double: Exercise) -> None:
    """The check that must catch it compares values; all rules that lost points are broken."""
    code = b"def double(x):\n    return x\n"
    rows = [("slow", "C2", "performance", "failed"), ("kind", "C3", "correctness", "skipped"), FAILED]
    graded = lost(double, *rows)
    assert "caught by: small\nbreaks: C1, C2, C3\n" in draft_text(graded, code, [])
    free = replace(graded.checks[0], score=Score(0, 0))  # `grade verify` would ask what is lost on it
    assert "breaks: C1, C3\n" in draft_text(replace(graded, checks=(free, *graded.checks[1:])), code, [])
    assert "caught by: slow\n" in draft_text(lost(double, rows[0]), code, [])
    with pytest.raises(ValueError, match="no check failed in a way that can be compared"):
        draft_text(lost(double, ("slow", "C2", "performance", "timed_out")), code, [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def double(x:\n", "it is not Python"),
        ("from mine import double\n", "it imports mine, a file of its own"),
        ("from . import mine\n\n\ndef double(x):\n    return mine\n", "it imports ., a file of its own"),
        ("x = 1\n", "it defines no function and no class"),
        ("(" * 10_000, "it is not Python"),
    ],
)
def test_of_what_none_can_be_made(double: Exercise, text: str, why: str) -> None:
    """It says why."""
    with pytest.raises(ValueError, match=why):
        draft_text(lost(double, FAILED), text.encode(), [])


def test_plain_code() -> None:
    """A function of which only its docstring is left does nothing."""
    assert without_names(b'def f(x):\n    """Adds."""\n', (), ()) == "def f(x):\n    pass"


def test_what_a_message_says_makes_no_group(double: Exercise) -> None:
    """No such function, not written yet, nothing returned: of these no group says more. Others go by function."""
    rows = [
        ("a", Outcome("a", Verdict.ERROR, cause="name", called=("f",))),
        ("b", Outcome("b", Verdict.SKIPPED, cause="raised", called=("g",))),
        ("c", Outcome("c", Verdict.FAILED, cause="kind", called=("h",), got_none=True)),
    ]
    checks = [GradedCheck(Check(id, double.id, "t"), outcome, Score(0, 10)) for id, outcome in rows]
    graded = GradedExercise(double, "started", tuple(checks), Score(0, 30))
    assert not is_unexplained(graded)
    more = [
        GradedCheck(
            Check(id, double.id, "t"), Outcome(id, Verdict.FAILED, cause="values", called=(name,)), Score(0, 10)
        )
        for id, name in (("d", "h"), ("e", "k"), ("m", "known"))
    ]
    mistakes = (Mistake("You know.", ("known",), checks=("m",)),)
    graded = replace(graded, checks=(*checks, *more), mistakes=mistakes, behaviours={"h": "1", "k": "2"})
    groups: dict[str, SimilarSubmissions] = {}
    assert is_unexplained(graded)
    add_to_group(groups, "ada", 1, graded)
    add_to_group(groups, "bo", 2, replace(graded, behaviours={"h": "1", "k": "3"}))
    told = sorted((group.function, *group.members) for group in named_groups(groups))
    assert told == [("h", "ada", "bo"), ("k", "ada"), ("k", "bo")]


def test_a_rule_on_the_text_is_about_the_one_function_that_fails(double: Exercise) -> None:
    """A check that calls nothing makes no group of its own beside it; beside several functions, it does."""
    ends = [("a", ()), ("b", ("f",)), ("c", ("g",))]
    rows = [
        GradedCheck(Check(id, double.id, "t"), Outcome(id, Verdict.FAILED, cause="values", called=called), Score(0, 10))
        for id, called in ends
    ]
    for count, functions in ((1, [""]), (2, ["f"]), (3, ["", "f", "g"])):
        groups: dict[str, SimilarSubmissions] = {}
        add_to_group(groups, "ada", 1, GradedExercise(double, "started", tuple(rows[:count]), Score(0, 30)))
        assert sorted(group.function for group in groups.values()) == functions


def test_what_was_graded_before_behaviour_was_saved(double: Exercise) -> None:
    """It says what to do; where no failing check can be compared, it says that."""
    groups: dict[str, SimilarSubmissions] = {}
    add_to_group(groups, "ada", 1, lost(double, FAILED))
    add_to_group(groups, "bo", 2, lost(double, ("small", "C1", "correctness", "timed_out")))
    assert [group.why_not for group in groups.values()] == [
        "they were graded before behaviour was saved; run the batch once more with --rerun all",
        "no failing check shows how they behave; for example, they do not load, they end Python, or a time limit ended "
        "them",
    ]
