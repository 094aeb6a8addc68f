import torch

from grader.check import (
    after_call,
    allclose,
    assert_close,
    assert_tensor,
    assert_true,
    assert_view,
    check,
    edge_cases,
    gradients,
)

TABLE = "t = torch.arange(12.0).reshape(3, 4)"


def tables(rng, *without):
    """Tables of many dtypes and strides, of one row and of one column."""
    rows, columns = rng.sizes(2, 3, 6)
    without = "no elements", "0 dims", "an expanded row", "a required gradient", *without
    return *edge_cases(rng, rows, columns, without=without).values(), rng.normal(1, columns), rng.normal(rows, 1)


def cases(size):
    """Values of n for a size, each with the words that name it."""
    return {1: "n = 1", size - 1: "all but one", size: "all of them", 0: "n = 0"}.items()


def cuts(function, rng, dim):
    """The first entries along a dim: none, some, all."""
    for t in tables(rng):
        for n, case in cases(t.shape[dim]):
            expected = t.narrow(dim, 0, n).clone()
            assert_close(function(t, n), expected, f"the result of `{function}` for {case}")


@check("C1", share=3, try_this=f"{TABLE}; first_rows(t, 3), first_rows(t, 0)")
def check_rows(student, rng):
    """The first rows: none, some, all"""
    cuts(student.first_rows, rng, 0)


@check("C2", share=3, try_this=f"{TABLE}; first_cols(t, 4), first_cols(t, 0)")
def check_columns(student, rng):
    """The first columns: none, some, all"""
    cuts(student.first_cols, rng, 1)


@check("C3", category="shape", share=3, try_this=f"{TABLE}; last(t, True).shape, last(t, False).shape")
def check_last(student, rng):
    """The last row, with its dim and without it"""
    for t in tables(rng):
        row = t[-1].clone()
        for keep, expected in ((False, row), (True, row[None])):  # the shown check begins with the other one
            assert_close(student.last(t, keep), expected, f"the result of `last` with keep={keep}")


@check("C4", category="memory", share=2, try_this=f"{TABLE}; first_cols(t, 2).fill_(7.0); print(t)")
def check_views(student, rng):
    """first_rows, first_cols and last give views"""
    calls = ((student.first_rows, 2), (student.first_cols, 2), (student.last, True), (student.last, False))
    for function, given in calls:
        for t in tables(rng)[:-2]:
            result = function(t, given)
            assert_tensor(result)
            assert_view(result, t, f"the result of `{function}`", "t")
        assert_true(gradients(function, rng.normal(3, 4), given)[0] is not None, "no gradient flows back to t")


@check("C5", share=2, try_this=f"{TABLE}; set_first_cols_(t, 0, 7.0), set_first_cols_(t, 4, 9.0)")
def check_set(student, rng):
    """Puts a number in the first columns: none, some, all"""
    for t in tables(rng, "bool"):
        for n, case in cases(t.shape[1]):
            v = rng.integer(100, 200)
            v = {torch.float64: v + 0.1, torch.int64: v + 2**53 + 1}.get(t.dtype, v)  # float32 rounds these
            expected = t.clone()
            expected[:, :n] = v
            result = student.set_first_cols_(t, n, v)
            if not allclose(result, expected, rtol=0.0, atol=0.0):  # a changed copy costs the points of C6, not these
                assert_close(after_call(t), expected, f"t, afterwards, for {case},", rtol=0.0, atol=0.0)
    t = torch.full((2, 3), 2**53 + 1)  # as floats, the numbers that stay are rounded
    student.set_first_cols_(t, 1, 7.0)
    assert_close(t[:, 1:], torch.full((2, 2), 2**53 + 1), "what stays of a t of large ints")


@check("C6", category="memory", share=1, try_this=f"{TABLE}; set_first_cols_(t, 2, 0.0) is t")
def check_in_place(student, rng):
    """Changes a window in place"""
    base = rng.normal(rng.integer(4, 6), rng.integer(7, 9))
    for t in (base[1:, ::2], base.T):
        columns = t[:, :2]
        result = student.set_first_cols_(t, 2, 0.5)
        assert_tensor(result)
        assert_true(result is after_call(t), "the result is another tensor than t; change t, and return t")
        if (t[:, :2] == 0.5).all():  # wrong columns are for other checks
            assert_true((columns == 0.5).all(), "t got other memory: the table that t is a window on keeps its numbers")
