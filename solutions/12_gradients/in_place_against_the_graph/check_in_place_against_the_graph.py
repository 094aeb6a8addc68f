import math

import torch

from grader.check import (
    assert_close,
    assert_differentiable,
    assert_does_not_mutate,
    assert_preserves_dtype,
    assert_shape,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
    edge_cases,
    gradients,
)

LAYERS = ("relu_", "sigmoid_", "exp_", "neg_")
KEYS = (
    ("of `attention`", 1.0, 0.0),
    ("for a hidden key that is NaN", math.nan, 0.0),
    ("for a hidden key that is infinite", math.inf, 0.0),
    ("for scores far below 0", 1.0, -1e10),
)
"""What to call the result, a factor for the last key, and what is added to all scores."""


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
        assert_close(student.swish(x), expected, "the result of `swish`")


@check("C2", share=2, try_this="x = torch.tensor([-1.0, 2.0]); residual(x, torch.relu_), x")
def check_residual(student, probe, rng):
    """Adds x to what several layers make of it"""
    for name in LAYERS:
        x, layer_ = rng.normal(3, 4), probe.layer(name)
        expected = x + getattr(torch, name[:-1])(x)
        assert_values(student.residual(x, layer_), expected, "the result of `residual`")
        assert_true(layer_.calls == 1, "expected one call of layer_, got another number of calls")


@check("C3", category="gradient", share=3, try_this="residual(torch.ones(1).requires_grad_(), torch.exp_).backward()")
def check_both_ways(student, probe, rng):
    """Gradients of x come by both ways"""
    for name in LAYERS:
        assert_differentiable(student.residual, rng.normal(3, 4), probe.layer(name), names=("x",))


@check("C3", category="gradient", share=2, try_this="x = torch.ones(2, requires_grad=True); swish(x).sum().backward()")
def check_gradients_of_swish(student, rng):
    """Right gradients in swish"""
    assert_differentiable(student.swish, 3 * rng.normal(3, 2), names=("x",))
    far = torch.tensor([-1000.0, -100.0, 100.0, 1000.0])
    (slope,) = gradients(student.swish, far)
    assert_values(slope, (far > 0).float(), "the gradient of x in `swish` far from 0")


@check("C3", category="gradient", share=2, try_this="q = torch.ones(1, 2, 3, requires_grad=True); attention(q, ...)")
def check_gradients_of_attention(student, rng):
    """Right gradients in attention"""
    assert_differentiable(student.attention, *queries(rng), names=("q", "k", "hidden"))


@check("C4", share=1, try_this="attention(torch.zeros(1, 1, 3), torch.zeros(1, 2, 3), torch.tensor([[False, True]]))")
def check_attention(student, rng):
    """Hides entries, in batches of one and more"""
    for items in (1, 2, 5):
        for what, last, first in KEYS:
            q, k, hidden = queries(rng, items, torch.float64)
            q[..., 0], k[..., 0] = 1.0, first  # adds it to all scores, which changes no softmax
            scores = torch.einsum("bnd,bmd->bnm", q[..., 1:], k[..., 1:]).exp() * ~hidden
            k[:, -1] = k[:, -1] * last  # hidden from all
            got = student.attention(q, k, hidden)
            assert_shape(got, scores, "the result of `attention`")
            assert_values(got, scores / scores.sum(-1, keepdim=True), f"the result {what}", rtol=1e-4, atol=1e-5)


@check("C6", category="memory", share=2, try_this="w = torch.ones(3, 2); clear_rows_(w, [0, -1]) is w, w")
def check_clear_rows(student, probe, rng):
    """Sets rows of parameters and of others to 0"""
    for requires in (True, False):
        for rows in ([0], [2, -1], [1, 1], [], [3, 0, 2]):
            w = rng.normal(5, 3)
            w[2, 1], w[0, 0] = math.nan, math.inf
            expected = w.clone()
            expected[rows] = 0
            now, facts = probe.cleared(student.clear_rows_, w, rows, requires)
            assert_true(not facts["none"], "`clear_rows_` returned None (is a `return` missing?)")
            assert_true(facts["same"], "the result is another tensor than w; write into w, and return it")
            assert_values(now, expected, "w, afterwards,", rtol=0.0, atol=0.0)
            assert_true(facts["place"], "w has other memory than before; write into the memory that it has")
            assert_true(facts["requires"] is requires, "w has another `requires_grad` than before")
            assert_true(facts["leaf"], "the write was recorded in the graph")


@check("C8", category="memory", share=1, try_this="x = torch.ones(2); residual(x, torch.sigmoid_); print(x)")
def check_arguments_stay(student, probe, rng):
    """Leaves the arguments as they are"""
    assert_does_not_mutate(student.swish, rng.normal(2, 3), what="x")
    assert_does_not_mutate(student.attention, *queries(rng), what="q, k or hidden")
    assert_does_not_mutate(student.residual, rng.normal(3, 4), probe.layer("sigmoid_"), what="x")
    rows = [2, 1]
    with assert_unchanged(rows, what="rows"):
        student.clear_rows_(rng.normal(4, 2), rows)


@check("C8", category="dtype", share=1, try_this="swish(torch.ones(2).double()).dtype")
def check_dtypes(student, probe, rng):
    """Keeps float32 and float64"""
    calls = (student.swish, rng.normal(2, 3)), (student.residual, rng.normal(3), probe.layer("exp_"))
    for function, *args in (*calls, (student.attention, *queries(rng))):
        assert_preserves_dtype(function, *args, dtypes=(torch.float32, torch.float64))
