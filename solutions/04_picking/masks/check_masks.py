import math

import pytest
import torch

from grader.check import (
    after_call,
    assert_does_not_mutate,
    assert_does_not_use,
    assert_keeps_graph,
    assert_no_loop,
    assert_preserves_dtype,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)


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


@check(
    "C1",
    share=3,
    try_this="between(torch.tensor([2.0, 5.0, 1.9]), 2.0, 5.0), between(torch.zeros(2, 2), 1, 3).shape",
)
def check_between(student, rng):
    """Picks from tensors of 0 to 3 dims, with the edges"""
    what = "the result of `between`"
    close = torch.tensor([5.0 + 1e-9, 2.0, 2.0 - 1e-9, 5.0, 3.0], dtype=torch.float64)
    assert_values(student.between(close, 2.0, 5.0), close[[1, 3, 4]], f"{what} for float64 numbers close to the edges")
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            expected = torch.tensor(inside(x, lo, hi), dtype=x.dtype)
            assert_values(student.between(x.clone(memory_format=torch.preserve_format), lo, hi), expected, what)


@check("C1", category="dtype", share=1, try_this="between(torch.tensor([1, 2, 3]), 2, 3).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of x"""
    assert_preserves_dtype(student.between, rng.normal(8), 0, 1, dtypes=(torch.float64, torch.int32, torch.float16))


@check("C2", share=2, try_this="count_between(torch.tensor(3), 2, 5), count_between(torch.zeros(0, 4), 0, 1)")
def check_count(student, rng):
    """Counts, in a Python int"""
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            assert_values(student.count_between(x, lo, hi), len(inside(x, lo, hi)), "the result of `count_between`")
    many = torch.ones(3001, dtype=torch.float16)
    assert_values(student.count_between(many, 0, 2), 3001, "the result of `count_between` for 3001 float16 numbers")


@check("C3", category="memory", share=3, try_this="x = torch.arange(6.0); replace_between_(x[::2], 1, 3, 0); print(x)")
def check_replace(student, rng):
    """Replaces in x itself, also where x is a view"""
    for x in inputs(rng):
        for lo, hi in ranges(rng):
            mine = x.detach()[...]  # with the strides and the memory of x
            numbers = [99 if lo <= number <= hi else number for number in x.flatten().tolist()]
            expected = torch.tensor(numbers, dtype=x.dtype).reshape(x.shape)
            result = student.replace_between_(mine, lo, hi, 99)
            assert_values(mine, expected, "x, afterwards,")
            assert_tensor(result)
            assert_true(
                result is after_call(mine), "the result is another tensor than x; change x itself, and return it"
            )
    # 0 times infinity is NaN; float32 rounds 0.1, and any float 2**53 + 1.
    odd = ((torch.float32, math.inf, -math.inf), (torch.float64, 1, 0.1), (torch.int64, 1, 2**53 + 1))
    for dtype, other, value in odd:
        x, expected = torch.tensor([other, 5, 3], dtype=dtype), torch.tensor([other, value, value], dtype=dtype)
        student.replace_between_(x, 2, 6, value)
        assert_values(x, expected, f"x, afterwards, for {dtype},", rtol=0.0, atol=0.0)


@check("C4", share=1, try_this="x = torch.tensor([float('nan'), 1.0]); between(x, 0, 2), count_between(x, 0, 2)")
@pytest.mark.parametrize("name", ["between", "count_between", "replace_between_"])
def check_nan(student, rng, name):
    """Leaves NaN out"""
    x = rng.whole(0, 9, 12, dtype=torch.float32)
    x[rng.permutation(12)[:5]] = math.nan
    found = inside(x, 2.5, 7.5)
    if name == "between":
        assert_values(student.between(x, 2.5, 7.5), torch.tensor(found), "the result")
    elif name == "count_between":
        assert_values(student.count_between(x, 2.5, 7.5), len(found), "the result")
    else:
        expected = torch.tensor([99.0 if number in found else number for number in x.tolist()])
        student.replace_between_(x, 2.5, 7.5, 99.0)
        assert_values(x, expected, "x, afterwards,")


@check("C5", share=2, try_this="hide_future(torch.rand(2, 4, 4)), hide_future(torch.rand(0, 0)).shape")
def check_hide_future(student, rng):
    """Hides the future in tables and in batches of them"""
    n, a, b = rng.sizes(3)
    for shape in ((n, n), (1, 1), (0, 0), (a, n, n), (a, b, n, n), (n, n, n), (a, 0, 0)):
        scores = rng.normal(*shape)
        if shape == (n, n):
            scores[0] = torch.tensor([0.0, math.inf, math.nan])[torch.arange(n) % 3]
            scores[-1] = torch.tensor([math.inf, math.nan, 0.0])[torch.arange(n) % 3]  # these stay
        expected = scores.clone()
        for i in range(shape[-1]):
            expected[..., i, i + 1 :] = -math.inf
        assert_values(student.hide_future(scores), expected, "the result of `hide_future`")


@check("C5", category="memory", share=2, try_this="s = torch.ones(2, 2).double(); hide_future(s).dtype, s")
def check_scores_stay(student, rng):
    """Leaves scores as they are, and keeps their dtype and gradient"""
    for shape in ((4, 4), (1, 1), (3, 1, 1)):  # without a future, too
        for dtype in (torch.float32, torch.float64):
            scores = rng.normal(*shape, dtype=dtype)
            assert_shares_no_memory(
                assert_does_not_mutate(student.hide_future, scores, what="scores"), scores, base_name="scores"
            )
    assert_preserves_dtype(student.hide_future, scores)
    assert_keeps_graph(student.hide_future, rng.normal(3, 3))


@check("C6", category="performance", share=2, try_this="look for a `for` over tables, rows or elements")
def check_no_loop(student, rng):
    """No loop over tables, rows or elements"""
    few, many = rng.whole(0, 9, 4, 5, dtype=torch.float32), rng.whole(0, 9, 400, 50, dtype=torch.float32)
    for function in (student.between, student.count_between):
        assert_does_not_use(function, "tolist", "unbind")
        assert_no_loop(function, (few, 2.0, 6.0), (many, 2.0, 6.0))
    assert_no_loop(student.replace_between_, (few, 2.0, 6.0, 0.0), (many, 2.0, 6.0, 0.0))
    for shape, larger in (((4, 4), (200, 200)), ((2, 3, 3), (40, 3, 3))):  # tables and batches of them
        assert_no_loop(student.hide_future, (rng.normal(*shape),), (rng.normal(*larger),))


@check("C2", category="memory", share=1, try_this="x = torch.ones(3); between(x, 0, 2), x")
def check_x_stays(student, rng):
    """Reads x and leaves it as it is, where it only reads"""
    for function in (student.between, student.count_between):
        x = rng.whole(0, 9, 4, 5, dtype=torch.float32)
        assert_does_not_mutate(function, x, 2, 6, what=f"the x of `{function}`", requiring=False)
