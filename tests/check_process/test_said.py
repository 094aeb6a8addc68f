"""What a hidden check says where the check stumbles, PyTorch raises, or a name is missing; and how a rule looks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade, message, verdicts

from grader.course.load import rule_texts

CHECKS = """
import torch
from grader.check import assert_no_loop, check

TRY = "double(torch.ones(2))"


@check("C1", try_this=TRY)
def check_value(student):
    x = torch.tensor([1.0, 2.0])
    assert student.double(x).tolist() == [2.0, 4.0]


@check("C1", category="performance", try_this="look for a `for` in your function")
def check_costs(student):
    assert_no_loop(student.double, (torch.ones(4),), (torch.ones(90),))


@check("C1", try_this=TRY)
def check_other(student):
    assert student.count_nonnegative_entries(torch.ones(2)) == 2


@check("C1", try_this=TRY)
def check_negative(student):
    assert student.count_negative_entries(torch.ones(2)) == 0
"""

MANY = "\n".join(f"def f{k}(x):\n    y = x + {k}\n    return y\n" for k in range(30))


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text by these hidden checks."""
    folder = tmp_path_factory.mktemp("said")
    with graded(course_with(folder, "", CHECKS), folder) as grade:
        yield grade


def first(grade: Grade, text: str, check: str = "value") -> str:
    """The first line of a message."""
    return message(grade(text), check).split("\n")[0]


def test_none_is_named(grade: Grade) -> None:
    """A check that goes on with what a function returned says that it returned None, and not what that led to."""
    said = first(grade, "def double(x):\n    2 * x\n")
    assert said == "expected your `double` to return something, got None (is a `return` missing?)"
    assert first(grade, "def double(x):\n    return 3\n").startswith(
        "this check stopped with an error because of what your code returned"
    )


def test_advice_on_costs_is_for_costs(grade: Grade) -> None:
    """Below an exception there is no advice to look for a loop; below a loop there is."""
    advice = "Try this: look for a `for` in your function"
    said = message(grade("import torch\ndef double(x):\n    return x @ torch.ones(3)\n"), "costs")
    assert "raised RuntimeError" in said and advice not in said
    assert advice in message(
        grade("import torch\ndef double(x):\n    return torch.stack([2 * y for y in x])\n"), "costs"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "x[None][[0, 0], [0, 0, 0]]",
            "shape mismatch: indexing tensors could not be broadcast together with",
        ),
        ("x[torch.ones(5).bool()]", "The shape of the mask N at index N does not match the shape of the indexed"),
        ("torch.einsum('ijk->i', x)", "einsum(): the number of subscripts in the equation N does not match"),
        ("-(x > 0)", "Negation, the `-` operator, on a bool tensor is not supported."),
        ("torch.stack(x, x)", "must be tuple of Tensors, not Tensor"),
        ("x.long() % 0", "ZeroDivisionError"),
    ],
)
def test_pytorchs_sentence_is_shown(grade: Grade, line: str, said: str) -> None:
    """Without its numbers, which could carry a hidden input."""
    assert said in message(grade(f"import torch\n\n\ndef double(x):\n    return {line}\n"), "value")


def test_a_name_of_the_students_is_shown(grade: Grade) -> None:
    """Also where the file is so long that its lines are not; a name that is made up is not."""
    said = message(grade(f"{MANY}\ndef double(x):\n    return tow * x\n"), "value")
    assert "name 'tow' is not defined" in said
    text = "def double(x):\n    raise NameError(f\"name 'n{int(x.sum())}' is not defined\")\n"
    assert "n3" not in message(grade(f"{MANY}\n{text}"), "value")


def test_an_unrelated_function_is_not_proposed(grade: Grade) -> None:
    """What another check calls is another function."""
    text = "def double(x):\n    return 2 * x\n\n\ndef count_negative_entries(x):\n    return 0\n"
    assert "did you mean" not in first(grade, text, "other")
    assert "did you mean `doubel`?" in first(grade, "def doubel(x):\n    return 2 * x\n")


def test_a_rule_keeps_its_layout() -> None:
    """A matrix and a list keep their lines; prose is joined, before them and behind."""
    rules = rule_texts(
        "C1  `f(n)` returns the\n    matrix of\n      1 2\n      3 4\n    for any n,\n    and no other.\n"
        "C2  `g(x)` returns one of\n    - a list,\n      also an empty one\n    - None.\n"
        "C3  Plain\n    prose.\n"
    )
    assert rules["C1"] == "`f(n)` returns the matrix of\n      1 2\n      3 4\n    for any n, and no other."
    assert rules["C2"] == "`g(x)` returns one of\n    - a list,\n      also an empty one\n    - None."
    assert rules["C3"] == "Plain prose."


@pytest.mark.parametrize(
    "body", ["pass", "...", '"""Double."""', "pass  # TODO", "return None", "y = None  # YOUR CODE\n    return y"]
)
def test_a_stub_that_returns_none_is_not_written_yet(grade: Grade, body: str) -> None:
    """A function that does nothing is skipped, as with NotImplementedError; one that does more has failed."""
    graded = grade(f"def double(x):\n    {body}\n")
    assert verdicts(graded)["value"] == "skipped"
    assert message(graded, "value").startswith("your `double` is not written yet (it returns None)")
    assert verdicts(grade("def double(x):\n    x = 2 * x\n"))["value"] == "failed"
