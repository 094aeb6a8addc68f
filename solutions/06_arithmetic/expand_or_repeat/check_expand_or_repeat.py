import itertools

import torch

from grader.check import (
    after_call,
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_no_loop,
    assert_preserves_dtype,
    assert_shares_memory,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    assert_view,
    check,
)


def vectors(rng):
    """Vectors of several lengths, dtypes and strides, each with several numbers of rows."""
    a, b = rng.sizes(2)
    vectors = (rng.normal(a), rng.normal(1), rng.normal(0), rng.normal(b, dtype=torch.float64), rng.normal(2 * b)[1::2])
    return itertools.product(vectors, (rng.integer(2, 6), 1, 0))


def batches(rng):
    """Batches of several shapes and strides, some of them square."""
    a, b = rng.sizes(2)
    for shape in ((a, b), (b, a), (a, a), (1, a), (a, 1), (0, b)):
        yield rng.normal(*shape)
    yield from (rng.normal(b, a).T, rng.normal(a, 2 * b)[:, ::2], rng.normal(a, b, dtype=torch.float64))


@check("C1", category="memory", share=4, try_this="v = torch.ones(2); rows_of(v, 3)[0, 0] = 5.0; print(v)")
def check_rows_of(student, rng):
    """Shows vectors many times, once and never"""
    for v, n in vectors(rng):
        rows = student.rows_of(v, n)
        assert_tensor(rows)
        assert_values(rows, v.repeat(n, 1))
        if rows.numel():
            assert_view(rows, v, base_name="v")


@check("C2", category="memory", share=4, try_this="rows = own_rows(torch.ones(2), 3); rows[0, 0] = 5.0; print(rows)")
def check_own_rows(student, rng):
    """Copies vectors into rows that can be written to"""
    for v, n in vectors(rng):
        rows = student.own_rows(v, n)
        assert_tensor(rows)
        assert_values(rows, v.repeat(n, 1))
        assert_shares_no_memory(rows, v, base_name="v")
        if rows.numel() and n > 1:
            assert_true(rows.stride(0) != 0, "all rows lie in the same memory: a write to one changes the others")


@check("C3", share=4, try_this="add_to_columns_(torch.zeros(2, 2), torch.tensor([1.0, 2.0]))")
def check_add_to_columns(student, rng):
    """Adds a number to each row, also of square batches"""
    for batch in batches(rng):
        values, before = rng.normal(len(batch), dtype=batch.dtype), batch[:]
        expected = batch + values[:, None]
        result = student.add_to_columns_(batch, values)
        assert_tensor(result)
        assert_true(
            result is after_call(batch), "the result is another tensor than batch; change batch itself, and return it"
        )
        # To more digits than float32 has.
        assert_values(batch, expected, "batch, afterwards,", rtol=1e-12, atol=1e-12)
        if batch.numel():
            assert_shares_memory(batch, before, "batch, afterwards,", "what it was")


@check("C3", category="memory", share=1, try_this="print the shape of every tensor on the way to the result")
def check_no_copies(student, rng):
    """Adds values without copies of them"""
    columns = rng.integer(1_000, 1_100)
    assert_costs_at_most(student.add_to_columns_, (rng.normal(50, columns), rng.normal(50)), bytes=2_000)


@check("C4", category="memory", share=2, try_this="x = torch.ones(2); add_to_columns_(torch.zeros(2, 3), x); print(x)")
def check_arguments_stay(student, rng):
    """Leaves v and values as they are"""
    for dtype in (torch.float32, torch.float64):
        v, values = rng.normal(4, dtype=dtype), rng.normal(4, dtype=dtype)
        for function in (student.rows_of, student.own_rows):
            assert_does_not_mutate(function, v, 4, what=f"the v of `{function}`", requiring=False)
        with assert_unchanged(values, what="values"):
            student.add_to_columns_(rng.normal(4, 4, dtype=dtype), values)


@check("C4", category="dtype", share=1, try_this="own_rows(torch.ones(2).double(), 3).dtype")
def check_dtype(student, rng):
    """Keeps dtypes"""
    for function in (student.rows_of, student.own_rows):
        assert_preserves_dtype(function, rng.normal(3), 3)


@check("C4", category="performance", share=1, try_this="look for a `for` over rows")
def check_no_loop(student, rng):
    """No loop over rows"""
    for function in (student.rows_of, student.own_rows):
        assert_no_loop(function, (rng.normal(4), 4), (rng.normal(4), 9_000))
    assert_no_loop(student.add_to_columns_, (rng.normal(4, 4), rng.normal(4)), (rng.normal(900, 900), rng.normal(900)))
