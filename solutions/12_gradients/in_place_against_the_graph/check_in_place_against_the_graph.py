import math

import pytest
import torch

from grader.check import (
    check,
    edge_cases,
    gradients,
    is_tensor,
    keeps_arguments,
    keeps_dtypes,
    lets_gradients_through,
    require,
    same,
    same_dtype,
    same_shape,
    same_values,
    unchanged,
    uses_at_most,
)

PATHS = "x = torch.ones(2, requires_grad=True); residual(x * 1, torch.sigmoid_).sum().backward(); print(x.grad)"
MASK = "attention(torch.zeros(1, 2, 3), torch.zeros(1, 2, 3), torch.tensor([[False, True], [False, False]]))"
CLEAR = "w = torch.ones(3, 2, requires_grad=True); clear_rows_(w, [0, -1]) is w, w"
OLD = "w = torch.ones(2, 2, requires_grad=True); loss = (w * w).sum(); clear_rows_(w, [0]); loss.backward()"
SLOPES = {
    "relu_": lambda x: (x > 0).to(x.dtype),
    "sigmoid_": lambda x: x.sigmoid() * (1 - x.sigmoid()),
    "triple_": lambda x: torch.full_like(x, 3.0),
    "minus_": lambda x: torch.full_like(x, -1.0),
}
KEYS = (
    ("of `attention`", 1.0, 0.0),
    ("for a hidden key that is NaN", math.nan, 0.0),
    ("for a hidden key that is infinite", math.inf, 0.0),
    ("for scores far below 0", 1.0, -1e6),
)
"""What to call the result, a factor for the last key, and what is added to all scores."""
VALUES = {"relu_": torch.relu, "sigmoid_": torch.sigmoid, "triple_": lambda x: 3 * x, "minus_": lambda x: -x}


def queries(rng, items=2, dtype=torch.float32):
    """q, k and a mask that hides the last column, nothing of the first, and about half of the others."""
    n, m, d = rng.sizes(3)
    hidden = rng.bools(n, m)
    hidden[:, 0], hidden[:, -1] = False, True
    return rng.normal(items, n, d, dtype=dtype), rng.normal(items, m, d, dtype=dtype), hidden


@check("C1", share=2, try_this="swish(torch.tensor([-100.0, 100.0])), swish(torch.ones(0, 2)).shape")
def check_swish(student, rng):
    """Computes swish of all kinds of tensors"""
    for x in edge_cases(rng, 3, 4, without=("bool", "large integers", "float16", "bfloat16")).values():
        expected = x.detach() * torch.sigmoid(x.detach())
        same(student.swish(x), expected, "the result of `swish`")


@check("C2", share=2, try_this="x = torch.tensor([-1.0, 2.0]); residual(x, torch.relu_), x")
def check_residual(student, probe, rng):
    """Adds x to what several layers make of it"""
    for name, value in VALUES.items():
        x = rng.normal(3, 4)
        expected = x + value(x)
        got = probe.of_residual(student.residual, name, x, torch.ones(3, 4))
        same_values(got["result"], expected, "the result of `residual`")
        require(got["calls"] == 1, "expected one call of layer_, got another number of calls")


@check("C3", category="gradient", share=3, try_this=PATHS)
def check_both_ways(student, probe, rng):
    """Gradients of x come by both ways"""
    for name, slope in SLOPES.items():
        for leaf in (False, True):
            x, weights = rng.normal(3, 4), rng.normal(3, 4)
            got = probe.of_residual(student.residual, name, x, weights, leaf)
            require(got["raised"] is None, "`backward` raises, as numbers that it needs were overwritten")
            require(got["gradient"] is not None, "no gradient reaches x")
            same_values(got["gradient"], weights * (1 + slope(x)), "the gradient of x in `residual`")


@check("C3", category="gradient", share=2, try_this="x = torch.ones(2, requires_grad=True); swish(x).sum().backward()")
def check_gradients_of_swish(student, rng):
    """Right gradients in swish"""
    lets_gradients_through(student.swish, 3 * rng.normal(3, 2), names=("x",))
    far = torch.tensor([-1000.0, -100.0, 100.0, 1000.0])
    (slope,) = gradients(student.swish, far)
    same_values(slope, (far > 0).float(), "the gradient of x in `swish` far from 0")


@check("C3", category="gradient", share=2, try_this="q = torch.ones(1, 2, 3, requires_grad=True); attention(q, ...)")
def check_gradients_of_attention(student, rng):
    """Right gradients in attention"""
    lets_gradients_through(student.attention, *queries(rng), names=("q", "k", "hidden"))


@check("C4", share=1, try_this=MASK)
def check_attention(student, rng):
    """Hides entries, in batches of one and more"""
    for items in (1, 2, 5):
        for what, last, first in KEYS:
            q, k, hidden = queries(rng, items, torch.float64)
            q[..., 0], k[..., 0] = 1.0, first  # adds it to all scores, which changes no softmax
            scores = torch.einsum("bnd,bmd->bnm", q[..., 1:], k[..., 1:]).exp() * ~hidden
            k[:, -1] = k[:, -1] * last  # hidden from all
            got = student.attention(q, k, hidden)
            is_tensor(got, "the result of `attention`")
            same_shape(got, scores, "the result of `attention`")
            same_values(got, scores / scores.sum(-1, keepdim=True), f"the result {what}", rtol=1e-4, atol=1e-5)


@check("C5", category="memory", share=2, try_this="how many tensors of the size of the result does attention make?")
@pytest.mark.parametrize("requires", [False, True], ids=["without gradients", "with gradients"])
def check_memory(student, rng, requires):
    """Attention needs memory for two tables"""
    items, n = rng.integer(8, 12), rng.integer(20, 30)
    q, k = (rng.normal(items, n, 2).requires_grad_(requires) for _ in range(2))
    uses_at_most(student.attention, (q, k, torch.ones(n, n).triu(1).bool()), bytes=9 * items * n * n)


@check("C6", category="memory", share=2, try_this=CLEAR)
def check_clear_rows(student, probe, rng):
    """Sets rows of parameters and of others to 0"""
    for requires in (True, False):
        for rows in ([0], [2, -1], [1, 1], [], [3, 0, 2]):
            w = rng.normal(5, 3)
            w[2, 1], w[0, 0] = math.nan, math.inf
            expected = w.clone()
            expected[rows] = 0
            now, facts = probe.cleared(student.clear_rows_, w, rows, requires)
            require(not facts["none"], "`clear_rows_` returned None (is a `return` missing?)")
            require(facts["same"], "the result is another tensor than w; write into w, and return it")
            same_values(now, expected, "w, afterwards,", rtol=0.0, atol=0.0)
            require(facts["place"], "w has other memory than before; write into the memory that it has")
            require(facts["requires"] is requires, "w has another `requires_grad` than before")
            require(facts["leaf"], "the write was recorded in the graph")


@check("C7", category="gradient", share=2, try_this=OLD)
def check_noticed(student, probe, rng):
    """PyTorch notices the change"""
    noticed = probe.notices(student.clear_rows_, rng.normal(4, 3), [0, 2])
    require(noticed is not None, "`clear_rows_` does not change w in its memory; PyTorch can notice it only there")
    require(noticed is True, "`backward` computes gradients from numbers that `clear_rows_` overwrote, without a word")


@check("C8", category="memory", share=1, try_this="x = torch.ones(2); residual(x, torch.sigmoid_); print(x)")
def check_arguments_stay(student, probe, rng):
    """Leaves the arguments as they are"""
    keeps_arguments(student.swish, rng.normal(2, 3), what="x")
    keeps_arguments(student.attention, *queries(rng), what="q, k or hidden")
    x, rows = rng.normal(3, 4), [2, 1]
    got = probe.of_residual(student.residual, "sigmoid_", x, torch.ones(3, 4))
    same_values(got["x"], x, "x after `residual`", rtol=0.0, atol=0.0)
    with unchanged(rows, what="rows"):
        student.clear_rows_(rng.normal(4, 2), rows)


@check("C8", category="dtype", share=1, try_this="swish(torch.ones(2).double()).dtype")
def check_dtypes(student, probe, rng):
    """Keeps float32 and float64"""
    dtypes = (torch.float32, torch.float64)
    keeps_dtypes(student.swish, rng.normal(2, 3), dtypes=dtypes)
    keeps_dtypes(student.attention, *queries(rng), dtypes=dtypes)
    for dtype in dtypes:
        x = rng.normal(3, dtype=dtype)
        same_dtype(probe.of_residual(student.residual, "triple_", x, torch.ones_like(x))["result"], dtype)
