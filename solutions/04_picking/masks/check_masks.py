import math

import pytest
import torch

from grader.check import (
    changed,
    check,
    does_not_call,
    gradients,
    is_tensor,
    keeps_arguments,
    no_loop,
    require,
    same_dtype,
    same_shape,
    same_values,
    shares_nothing,
)

FUNCTIONS = ["between", "count_between", "replace_between_"]
EDGES = "between(torch.tensor([2.0, 5.0, 1.9, 5.1]), 2.0, 5.0), between(torch.zeros(2, 2), 1, 3).shape"
COUNTS = "count_between(torch.tensor(3), 2, 5), count_between(torch.zeros(0, 4), 0, 1)"
WRITES = "x = torch.arange(6.0).reshape(2, 3); replace_between_(x.T, 1, 3, 0); print(x)"
NAN = "x = torch.tensor([float('nan'), 1.0]); between(x, 0, 2), count_between(x, 0, 2), replace_between_(x, 0, 2, 7.0)"
TABLES = "hide_future(torch.rand(2, 4, 4)), hide_future(torch.rand(1, 1)), hide_future(torch.rand(0, 0)).shape"
KEPT = "s = torch.ones(2, 2).double(); hide_future(s).dtype, s"


def inputs(rng):
    """Tensors of whole numbers, of any kind and strides: many elements lie on the edges of a range."""
    a, b, c = rng.sizes(3)
    for shape in ((), (a,), (a, b), (a, b, c), (b, 0)):
        yield rng.whole(0, 9, *shape, dtype=torch.float32)
    yield rng.whole(0, 9, a, b)
    yield rng.whole(0, 9, a, b, dtype=torch.float64).T
    yield rng.whole(0, 9, a, 2 * c, dtype=torch.float32)[1:, ::2]


def ranges(rng):
    lo = rng.integer(1, 4)
    return (lo, lo + rng.integer(1, 4)), (lo + 0.5, lo + 2.5), (7, 7), (20, 30), (-1, 2)


def inside(x, lo, hi):
    """The elements in the range, by plain Python."""
    return [number for number in x.flatten().tolist() if lo <= number <= hi]


@check("C1", share=3, try_this=EDGES)
def check_between(student, rng):
    """Picks from tensors of 0 to 3 dims, with the edges"""
    close = torch.tensor([5.0 + 1e-9, 2.0, 2.0 - 1e-9, 5.0, 3.0], dtype=torch.float64)
    same_shape(student.between(close, 2.0, 5.0), (3,), "the result of `between` for float64 numbers close to the edges")
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            expected = torch.tensor(inside(x, lo, hi), dtype=x.dtype)
            yours = student.between(x.clone(memory_format=torch.preserve_format), lo, hi)
            is_tensor(yours, "the result of `between`")
            same_shape(yours, expected, "the result of `between`")
            same_values(yours, expected, "the result of `between`")


@check("C1", category="dtype", share=1, try_this="between(torch.tensor([1, 2, 3]), 2, 3).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of x"""
    for dtype in (torch.float64, torch.int32, torch.float16):
        same_dtype(student.between(rng.whole(0, 9, 8, dtype=dtype), 2, 6), dtype, "the result of `between`")


@check("C2", share=2, try_this=COUNTS)
def check_count(student, rng):
    """Counts, in a Python int"""
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            same_values(student.count_between(x, lo, hi), len(inside(x, lo, hi)), "the result of `count_between`")
    many = torch.ones(3001, dtype=torch.float16)
    same_values(student.count_between(many, 0, 2), 3001, "the result of `count_between` for 3001 float16 numbers")


@check("C3", category="memory", share=3, try_this=WRITES)
def check_replace(student, rng):
    """Replaces in x itself, also where x is a view"""
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            mine = x.detach()[...]  # with the strides and the memory of x
            numbers = [99 if lo <= number <= hi else number for number in x.flatten().tolist()]
            yours = student.replace_between_(mine, lo, hi, 99)
            expected = torch.tensor(numbers, dtype=x.dtype).reshape(x.shape)
            same_values(mine, expected, "x, afterwards,")
            is_tensor(yours, "the result of `replace_between_`")
            require(yours is changed(mine), "the result is another tensor than x; change x itself, and return it")
    x = torch.tensor([1.0, math.inf, 3.0])
    student.replace_between_(x, 2.0, math.inf, -math.inf)
    same_values(x, torch.tensor([1.0, -math.inf, -math.inf]), "x, afterwards, where the value is -inf,")
    for dtype, value in ((torch.float64, 0.1), (torch.int64, 2**53 + 1)):  # float32 rounds the one, any float the other
        x = torch.tensor([1, 5, 3], dtype=dtype)
        expected = torch.tensor([1, value, value], dtype=dtype)
        student.replace_between_(x, 2, 6, value)
        same_values(x, expected, "x, afterwards, for a value that float32 rounds,", rtol=0.0, atol=0.0)


@check("C4", share=1, try_this=NAN)
@pytest.mark.parametrize("name", FUNCTIONS)
def check_nan(student, rng, name):
    """Leaves NaN out"""
    x = rng.whole(0, 9, 12, dtype=torch.float32)
    x[rng.permutation(12)[:5]] = math.nan
    numbers, found = x.tolist(), torch.tensor(inside(x, 2.5, 7.5))
    if name == "between":
        yours = student.between(x, 2.5, 7.5)
        same_shape(yours, found, "the result")
        same_values(yours, found, "the result")
    elif name == "count_between":
        same_values(student.count_between(x, 2.5, 7.5), len(found), "the result")
    else:
        student.replace_between_(x, 2.5, 7.5, 99.0)
        same_values(x, torch.tensor([99.0 if 2.5 <= number <= 7.5 else number for number in numbers]), "x, afterwards,")


@check("C5", share=2, try_this=TABLES)
def check_hide_future(student, rng):
    """Hides the future in tables and in batches of them"""
    n, a, b = rng.sizes(3)
    for shape in ((n, n), (1, 1), (0, 0), (a, n, n), (a, b, n, n), (n, n, n), (a, 0, 0)):
        scores = rng.normal(*shape)
        if shape == (n, n):
            scores[0] = torch.tensor([0.0, math.inf, math.nan])[torch.arange(n) % 3]
        expected = scores.clone()
        for i in range(shape[-1]):
            expected[..., i, i + 1 :] = -math.inf
        yours = student.hide_future(scores)
        is_tensor(yours, "the result of `hide_future`")
        same_shape(yours, expected, "the result of `hide_future`")
        same_values(yours, expected, "the result of `hide_future`")


@check("C5", category="memory", share=2, try_this=KEPT)
def check_scores_stay(student, rng):
    """Leaves scores as they are, and keeps their dtype and gradient"""
    for dtype in (torch.float64, torch.float16, torch.float32):
        scores = rng.normal(4, 4, dtype=dtype)
        yours = keeps_arguments(student.hide_future, scores, what="scores")
        is_tensor(yours)
        same_dtype(yours, dtype)
        shares_nothing(yours, scores, base_name="scores")
    for shape in ((1, 1), (3, 1, 1)):  # without a future, too
        scores = rng.normal(*shape)
        shares_nothing(student.hide_future(scores), scores, "the result for tables of one word", "scores")
    gradient = gradients(student.hide_future, rng.normal(3, 3))[0]
    text = "no gradient reaches scores: the result is cut off from them, as by `detach`, `.data`, a list or NumPy"
    require(gradient is not None, text)


@check("C6", category="performance", share=2, try_this="look for a `for` over rows or elements")
def check_no_loop(student, rng):
    """No loop over rows or elements"""
    few, many = rng.whole(0, 9, 4, 5, dtype=torch.float32), rng.whole(0, 9, 400, 50, dtype=torch.float32)
    for function in (student.between, student.count_between):
        does_not_call(function, "tolist", "unbind")
        no_loop(function, (few, 2.0, 6.0), (many, 2.0, 6.0))
    no_loop(student.replace_between_, (few, 2.0, 6.0, 0.0), (many, 2.0, 6.0, 0.0))
    no_loop(student.hide_future, (rng.normal(4, 4),), (rng.normal(200, 200),))


@check("C6", category="memory", share=1, try_this="x = torch.ones(3); between(x, 0, 2), x")
def check_x_stays(student, rng):
    """Reads x and leaves it as it is, where it only reads"""
    for function in (student.between, student.count_between):
        keeps_arguments(function, rng.whole(0, 9, 4, 5, dtype=torch.float32), 2, 6, what="x", requiring=False)
