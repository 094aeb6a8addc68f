import itertools
import math

import pytest
import torch

from grader.check import (
    agrees,
    as_elsewhere,
    as_lean_as,
    calling,
    check,
    gradients,
    keeps_arguments,
    keeps_graph,
    number,
    raises,
    require,
    same_dtype,
    same_values,
    uses_at_most,
)

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
MOST_TENSORS = 16
COLUMN = "mse(torch.tensor([[1.0], [5.0], [2.0], [0.0]]), torch.tensor([1.0, 4.0, 2.0, 3.0]))"
NUMBERS = "mse(torch.ones(4, 1), torch.ones(1)), mse(torch.ones(5), torch.ones(4))"
SHAPES = "mse(torch.ones(1, 4), torch.ones(1, 4)), mse(torch.ones(4), torch.ones(1, 4))"


def pairs(rng, n):
    """Predictions and targets as vectors."""
    return rng.normal(n), rng.normal(n) + 0.5


def mean_square(pred, target):
    """The mean by plain Python, in float64."""
    both = zip(pred.double().flatten().tolist(), target.double().flatten().tolist(), strict=True)
    squares = [(a - b) ** 2 for a, b in both]
    return math.fsum(squares) / len(squares)


def right_mean(student, pred, target):
    """The mean is right; the expected one is computed before the call."""
    asked = mean_square(pred, target)
    with calling(student.mse, pred, target) as loss:
        same_values(number(loss), asked, "the mean", **CLOSE)


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


@check("C2", share=1, try_this=COLUMN)
@pytest.mark.parametrize("most", [1, 9, 40], ids=["single", "few", "many"])
def check_mixed(student, rng, most):
    """A column with a vector, the other way round, and two columns"""
    n = rng.integer((most + 1) // 2, most)
    pred, target = pairs(rng, n)
    asked = mean_square(pred, target)
    for one, other in (((n, 1), (n,)), ((n,), (n, 1)), ((n, 1), (n, 1))):
        with calling(student.mse, pred.clone().reshape(one), target.clone().reshape(other)) as loss:
            as_elsewhere(  # right, or as wrong as for two vectors
                number(loss),
                asked,
                lambda: number(student.mse(pred.clone(), target.clone())),
                lambda: number(student.mse(pred + 1, target - 1)),
                "the mean for a column with a vector",
                **CLOSE,
            )


@check("C3", category="error", share=2, try_this=NUMBERS)
def check_numbers_differ(student, rng):
    """Different numbers of predictions and targets"""
    n = rng.integer(3, 6)
    for a, b in ((1, n), (n, 1), (n, n + 1), (2 * n, n)):
        case = "one number on one side and more on the other" if 1 in (a, b) else "more numbers on one side"
        for one, other in itertools.product(((a,), (a, 1)), ((b,), (b, 1))):
            raises(student.mse, rng.normal(*one), rng.normal(*other), error=ValueError, case=case)


@check("C4", category="error", share=2, try_this=SHAPES)
def check_other_shapes(student, rng):
    """Other shapes, on one side or both"""
    n = rng.integer(3, 6)
    shapes = {
        "(1, n)": (1, n),
        "(n, 2)": (n, 2),
        "(n, 0)": (n, 0),
        "(n, 1, 1)": (n, 1, 1),
        "(1, n, 1)": (1, n, 1),
        "()": (),
    }
    for name, shape in shapes.items():
        other, entries = rng.normal(*shape), torch.Size(shape).numel()
        raises(student.mse, rng.normal(*shape), other, error=ValueError, case=f"two tensors of shape {name}")
        raises(student.mse, other, rng.normal(entries), error=ValueError, case=f"predictions of shape {name}")
        raises(student.mse, rng.normal(entries, 1), other, error=ValueError, case=f"targets of shape {name}")


@check("C5", category="dtype", share=1, try_this="mse(torch.ones(3).double(), torch.zeros(3).double()).dtype")
def check_dtype(student, rng):
    """Keeps the dtype"""
    for dtype in (torch.float32, torch.float64, torch.float16):
        pred, target = (values.to(dtype) for values in pairs(rng, 5))
        same_dtype(student.mse(pred, target), dtype, f"the result for {str(dtype).removeprefix('torch.')}")
    pred, target = (rng.normal(5, dtype=torch.float64) for _ in range(2))
    asked = mean_square(pred, target)
    loss = number(student.mse(pred, target))
    if agrees(loss, asked, **CLOSE):  # a wrong value is for other checks
        require(agrees(loss, asked, rtol=1e-12, atol=1e-12), "the result for float64 is rounded to float32 on the way")


@check("C5", category="gradient", share=1, try_this="mse(torch.ones(3, requires_grad=True), torch.zeros(3)).grad_fn")
def check_gradients(student, rng):
    """Lets gradients through to pred"""
    pred, target = pairs(rng, rng.integer(4, 8))
    asked, slope = mean_square(pred, target), 2 * (pred - target) / len(pred)
    keeps_graph(student.mse, pred, target)
    for one, other in ((pred, target), (pred[:, None], target[:, None]), (pred[:, None], target)):
        if agrees(number(student.mse(one.clone(), other.clone())), asked, **CLOSE):  # a wrong value is for other checks
            to_pred = gradients(student.mse, one, other)[0]
            same_values(to_pred, slope.reshape(one.shape), "the gradient of pred", **CLOSE)


@check("C6", category="performance", share=1, try_this="look for a line whose result has n * n numbers")
def check_no_table(student, reference, rng):
    """Makes no table of n by n numbers"""
    pred, target = pairs(rng, rng.integer(200, 250))
    asked = mean_square(pred, target)
    for one, other in ((pred, target), (pred[:, None], target[:, None]), (pred[:, None], target)):
        # A column with a vector counts only where the mean is right: the starter's table is the fault of C2.
        if one.shape == other.shape or agrees(number(student.mse(one.clone(), other.clone())), asked, **CLOSE):
            uses_at_most(student.mse, (one, other), bytes=MOST_TENSORS * pred.nbytes)
    # As seen from outside, where a table takes 64 MB.
    as_lean_as(student.mse, reference.mse, lambda n: pairs(rng, n), size=4_000, at_most=MOST_TENSORS, **CLOSE)


@check("C7", category="memory", share=1, try_this="p = torch.ones(3); mse(p, torch.zeros(3)); print(p)")
def check_inputs_kept(student, rng):
    """Leaves pred and target as they were"""
    pred, target = pairs(rng, rng.integer(4, 9))
    columns = pred.clone()[:, None], target.clone()[:, None]
    for one, other in itertools.product((pred, columns[0]), (target, columns[1])):
        for dtype in (torch.float32, torch.float64):
            keeps_arguments(student.mse, one.to(dtype), other.to(dtype), what="pred or target")
