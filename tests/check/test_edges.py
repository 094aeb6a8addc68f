"""Words for edge cases: what they make, and which answers fail them."""

from __future__ import annotations

import pytest
import torch
from support import Function, failure

from grader.check import Rng, assert_differentiable, assert_does_not_mutate, assert_preserves_dtype, edge_cases
from grader.check.declare import KINDS

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def rng() -> Rng:
    made = Rng()
    made.manual_seed(3)
    return made


# -- cases ----------------------------------------------------------------------------------------------------------


def test_each_case_is_what_its_name_says() -> None:
    """Every case has its property, and all but two have the shape."""
    cases = edge_cases(rng(), 3, 4)
    assert tuple(cases) == KINDS
    assert {name for name, case in cases.items() if case.shape != (3, 4)} == {"no elements", "0 dims"}
    dtypes = [cases[name].dtype for name in ("bfloat16", "bool", "large integers")]
    assert dtypes == [torch.bfloat16, torch.bool, torch.int64]
    assert cases["large integers"].flatten()[:2].tolist() == [2**24 + 1, 2**53 + 1]
    assert (cases["negative zeros"].signbit() & (cases["negative zeros"] == 0)).any()
    assert cases["NaN"].isnan().any() and not cases["NaN"].isnan().all()
    assert cases["a view with an offset"].storage_offset() > 0
    assert cases["a transpose"].stride()[0] == 1
    assert cases["every second column"].stride()[1] == 2
    assert cases["an expanded row"].stride()[0] == 0
    assert cases["a required gradient"].requires_grad


def test_cases_can_be_chosen() -> None:
    """A check takes the cases that the task allows, and a name that does not exist is an error."""
    assert list(edge_cases(rng(), 2, 2, only=("NaN", "bool"))) == ["bool", "NaN"]
    assert "NaN" not in edge_cases(rng(), 2, 2, without=("NaN",))
    with pytest.raises(ValueError, match="names of its cases are float16"):
        edge_cases(rng(), 2, 2, without=("NaNs",))
    with pytest.raises(ValueError, match="two sizes"):
        edge_cases(rng(), 2)


# -- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("x += 1\n    return x", "`x` was changed"),
        ("return None", "the result is None (is a `return` missing?)"),
        ("x.resize_(4)\n    return x", "`x` was changed: its shape, strides or dtype differs now"),
        (
            "if x.stride() == (4, 1): x.as_strided((7,), (1,)).add_(1)\n    return 1",
            "x, or the memory around it, was",
        ),
        ("x.grad = None\n    return x + 1", "x has another `requires_grad` or `grad` after the call"),
        ("x.requires_grad_()\n    return x + 1", "x has another `requires_grad` or `grad` after the call"),
        ("x.detach_()\n    return x + 1", "x has another `requires_grad` or `grad` after the call"),
    ],
)
def test_changed_arguments_fail(function: Function, body: str, text: str) -> None:
    """Numbers, layout, what lies around, `requires_grad` and `grad` of an argument stay."""
    failed = failure(assert_does_not_mutate, function(f"def total(x):\n    {body}\n"), X.clone(), what="x")
    assert failed.public.startswith(text)


def test_kept_arguments_give_the_result(function: Function) -> None:
    """A function that changes nothing passes, also with a function as argument, or without gradients where excluded."""
    assert assert_does_not_mutate(function("def total(x, n):\n    return x * n\n"), X.clone(), 2).equal(2 * X)
    twice = function("def total(x, f=None):\n    return 2 * x if f is None else f(x)\n")
    assert assert_does_not_mutate(twice, X.clone(), twice).equal(2 * X)
    numpy = function("def total(x):\n    return torch.tensor(x.numpy())\n")
    assert assert_does_not_mutate(numpy, X.clone(), requiring=False).equal(X)


# -- dtypes and gradients -------------------------------------------------------------------------------------------


def test_dtypes_are_kept(function: Function) -> None:
    """A result of another dtype fails, and names the dtype of the arguments."""
    assert_preserves_dtype(function("def total(x):\n    return x.sum()\n"), X)
    halves = function("def total(x):\n    return x.sum() if x.itemsize > 2 else x.sum().float()\n")
    assert "the result for float16" in failure(assert_preserves_dtype, halves, X).public
    assert_preserves_dtype(halves, X, dtypes=(torch.float32, torch.float64))


def test_gradients_reach_the_arguments(function: Function) -> None:
    """A gradient that is missing fails, by the argument's name, and so does a wrong one."""
    assert_differentiable(function("def total(x, y):\n    return (x * y).sum()\n"), X, X)
    cut = function("def total(x, y):\n    return (x * y.detach()).sum()\n")
    assert failure(assert_differentiable, cut, X, X, names=("x", "y")).public == "no gradient reaches y of `total`"
    borrowed = function("def total(x):\n    return (x * x.detach()).sum()\n")
    assert "gradient" in failure(assert_differentiable, borrowed, X).public
