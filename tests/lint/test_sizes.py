"""Sizes of shown checks: what of a check file may be one, and that hidden checks draw others."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_process.courses import course_of_one, graded
from support import verdicts, verified

from grader.lint.sizes import sizes_in

TASK = "Products\n\nC1  `products(a, b)` multiplies each matrix of a by that of b.\n"
TEXT = f'"""{TASK}"""\n\n\ndef products(a, b):\n    ...\n'
RIGHT = "import torch\n\n\ndef products(a, b):\n    return a @ b\n"
LUCKY = "import torch\n\n\ndef products(a, b):\n    out = a.new_zeros(*a.shape[:2], b.shape[2])\n"
LUCKY += "    for i in range(2):\n        out[i] = a[i] @ b[i]\n    return out\n"
SHOWN = '''
import torch
from grader.check import assert_values, check


@check("C1", share=5)
def check_two(student):
    """Two matrices"""
    a = torch.ones(2, 3, 3)
    assert_values(student.products(a, a), torch.full((2, 3, 3), 3.0))
'''
HIDDEN = '''
from grader.check import assert_values, check


@check("C1", try_this="products(torch.ones(2, 1, 1), torch.ones(2, 1, 1))")
def check_random(student, reference, rng):
    """Random ones"""
    n, i, k = rng.sizes(3, 2, 5)
    a, b = rng.normal(n, i, k), rng.normal(n, k, i)
    assert_values(student.products(a, b), reference.products(a, b))
'''


def test_sizes_of_a_text() -> None:
    """Whole numbers of calls, and the lengths of lists; no values, no shares of a check."""
    text = (
        "@check('C1', share=9)\n@mark(8)\ndef check_it(student):\n    f(torch.ones(2, (3,)), torch.tensor([7, 9.0]))\n"
    )
    assert sizes_in(text + "    x = 11\n    g(0, 1, True, 'a', dim=6)\n    h([5, 5, 5, 5])") == {2, 3, 4}
    assert sizes_in("(") == frozenset()


def test_a_hidden_check_draws_other_sizes_first(tmp_path: Path) -> None:
    """What is right for the sizes of the shown check alone is caught with every seed."""
    course = course_of_one(tmp_path / "course", TEXT, RIGHT, SHOWN, HIDDEN)
    with graded(course, tmp_path, "task") as grade:
        told = [verdicts(grade(LUCKY, "task", seed)) for seed in range(12)]
        assert told == [{"two": "passed", "random": "failed"}] * 12
        assert set(verdicts(grade(RIGHT, "task")).values()) == {"passed"}


@pytest.mark.parametrize(("sizes", "noted"), [("rng.sizes(3, 2, 5)", False), ("(2, 3, 3)", True)])
def test_verify_tries_what_is_right_for_shown_sizes(tmp_path: Path, sizes: str, noted: bool) -> None:
    """Where all hidden inputs have the sizes of the shown check, the author learns of it."""
    hidden = HIDDEN.replace("rng.sizes(3, 2, 5)", sizes)
    course = course_of_one(tmp_path, TEXT, RIGHT, SHOWN, hidden)
    (proof,) = verified(course, course.exercises)
    said = "products may give right_for_shown_sizes: is there a rule on other sizes than those of the shown checks?"
    assert any(said in note for note in proof.notes) == noted, proof.notes
