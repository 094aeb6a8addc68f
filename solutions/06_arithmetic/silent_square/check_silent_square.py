import itertools

import pytest
import torch

from grader.check import (
    as_number,
    assert_does_not_mutate,
    assert_peak_memory_ratio,
    assert_preserves_dtype,
    assert_values,
    check,
    gradients,
    raises,
)

CLOSE = {"rtol": 1e-5, "atol": 1e-6}


def pairs(rng, n):
    """Predictions and targets as vectors."""
    return rng.normal(n), rng.normal(n) + 0.5


def layouts(pred, target):
    """Two vectors as such, as columns, and one of them as a column."""
    return itertools.product((pred, pred[:, None]), (target, target[:, None]))


def right_mean(student, pred, target):
    asked = (pred.double().flatten() - target.double().flatten()).square().mean().item()
    # Copies: what becomes of the arguments is for the rule on that.
    assert_values(as_number(student.mse(pred.clone(), target.clone())), asked, "the mean", **CLOSE)


@check("C1", share=2, try_this="mse(torch.tensor([0.5, -1.0, 2.0]), torch.tensor([0.0, 1.0, 4.0]))")
def check_random(student, rng):
    """The mean of random differences, between equal shapes"""
    for n in (2, rng.integer(4, 9), rng.integer(20, 40)):
        pred, target = pairs(rng, n)
        right_mean(student, pred, target)
        right_mean(student, pred[:, None], target[:, None])


@check("C1", share=1, try_this="mse(torch.tensor([2.0]), torch.tensor([5.0]))")
def check_single(student, rng):
    """A single prediction and its target"""
    right_mean(student, *pairs(rng, 1))


@check("C1", share=1, try_this="mse(torch.tensor([10000.5]), torch.tensor([10000.0]))")
def check_large(student, rng):
    """Large numbers that are close to each other"""
    target = 10_000 + rng.whole(0, 99, rng.integer(4, 9), dtype=torch.float32)
    right_mean(student, target + rng.whole(1, 9, len(target)) / 8, target)


@check("C2", share=1, try_this="mse(torch.tensor([[1.0], [5.0]]), torch.tensor([1.0, 4.0]))")
@pytest.mark.parametrize("most", [1, 9, 40], ids=["single", "few", "many"])
def check_mixed(student, rng, most):
    """Vectors and columns, mixed"""
    for pred, target in layouts(*pairs(rng, rng.integer((most + 1) // 2, most))):
        right_mean(student, pred, target)


@check("C3", category="error", share=2, try_this="mse(torch.ones(4), torch.ones(1)), mse(torch.ones(5), torch.ones(4))")
def check_numbers_differ(student, rng):
    """Different numbers of predictions and targets"""
    n = rng.integer(3, 6)
    for a, b in ((1, n), (n, 1), (n, n + 1), (2 * n, n)):
        case = "one number on one side and more on the other" if 1 in (a, b) else "more numbers on one side"
        for pred, target in layouts(rng.normal(a), rng.normal(b)):
            raises(student.mse, pred, target, error=ValueError, case=case)


@check("C4", category="error", share=3, try_this="mse(torch.ones(4), torch.ones(1, 4))")
def check_other_shapes(student, rng):
    """Other shapes, on one side or both"""
    n = rng.integer(3, 6)
    shapes = {"(1, n)": (1, n), "(n, 2)": (n, 2), "(n, 0)": (n, 0), "(n, 1, 1)": (n, 1, 1), "(1, n, 1)": (1, n, 1)}
    for name, shape in {**shapes, "()": ()}.items():
        x = rng.normal(*shape)
        raises(student.mse, x, x + 1, error=ValueError, case=f"two tensors of shape {name}")
        raises(student.mse, x, rng.normal(x.numel()), error=ValueError, case=f"predictions of shape {name}")
        raises(student.mse, rng.normal(x.numel(), 1), x, error=ValueError, case=f"targets of shape {name}")


@check("C5", category="dtype", share=1, try_this="mse(torch.ones(3).double(), torch.zeros(3).double()).dtype")
def check_dtype(student, rng):
    """Keeps the dtype"""
    assert_preserves_dtype(student.mse, *pairs(rng, 5))
    pred, target = (vector.double() / 3 for vector in pairs(rng, 5))
    loss, asked = as_number(student.mse(pred, target)), (pred - target).square().mean().item()
    assert_values(loss, asked, "the mean in float64, to its last digits,", rtol=1e-12, atol=1e-12)


@check("C5", category="gradient", share=1, try_this="mse(torch.ones(3, requires_grad=True), torch.zeros(3)).grad_fn")
def check_gradients(student, rng):
    """Lets gradients through to pred"""
    vectors = pairs(rng, rng.integer(4, 8))
    slope = 2 * (vectors[0] - vectors[1]) / len(vectors[0])
    for pred, target in layouts(*vectors):
        assert_values(
            gradients(student.mse, pred, target)[0], slope.reshape(pred.shape), "the gradient of pred", **CLOSE
        )


@check("C6", category="performance", share=1, try_this="look for a line whose result has n * n numbers")
def check_no_table(student, reference, rng):
    """Makes no table of n by n numbers"""
    for dim in ((), (1,)):
        inputs = lambda n, dim=dim: (rng.normal(n, *dim), rng.normal(n))  # noqa: E731
        limit = "the memory of 16 tensors of n numbers"
        assert_peak_memory_ratio(student.mse, reference.mse, inputs, size=4_000, at_most=16, limit=limit, **CLOSE)


@check("C7", category="memory", share=1, try_this="p = torch.ones(3); mse(p, torch.zeros(3)); print(p)")
def check_inputs_kept(student, rng):
    """Leaves pred and target as they were"""
    for dtype in (torch.float32, torch.float64):
        for pred, target in layouts(*(vector.to(dtype) for vector in pairs(rng, rng.integer(4, 9)))):
            assert_does_not_mutate(student.mse, pred, target, what="pred or target")
