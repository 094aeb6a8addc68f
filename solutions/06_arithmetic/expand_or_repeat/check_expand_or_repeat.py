import itertools

import torch

from grader.check import (
    changed,
    check,
    is_tensor,
    is_view_of,
    keeps_arguments,
    keeps_dtypes,
    no_loop,
    require,
    same_values,
    shares,
    shares_nothing,
    unchanged,
    uses_at_most,
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
        is_tensor(rows)
        same_values(rows, v.repeat(n, 1))
        if rows.numel():
            is_view_of(rows, v, base_name="v")


@check("C2", category="memory", share=4, try_this="rows = own_rows(torch.ones(2), 3); rows[0, 0] = 5.0; print(rows)")
def check_own_rows(student, rng):
    """Copies vectors into rows that can be written to"""
    for v, n in vectors(rng):
        rows = student.own_rows(v, n)
        is_tensor(rows)
        same_values(rows, v.repeat(n, 1))
        shares_nothing(rows, v, base_name="v")
        if rows.numel() and n > 1:
            require(rows.stride(0) != 0, "all rows lie in the same memory: a write to one changes the others")


@check("C3", share=4, try_this="add_to_columns_(torch.zeros(2, 2), torch.tensor([1.0, 2.0]))")
def check_add_to_columns(student, rng):
    """Adds a number to each row, also of square batches"""
    for batch in batches(rng):
        values, before = rng.normal(len(batch), dtype=batch.dtype), batch[:]
        expected = batch + values[:, None]
        result = student.add_to_columns_(batch, values)
        is_tensor(result)
        require(result is changed(batch), "the result is another tensor than batch; change batch itself, and return it")
        # To more digits than float32 has.
        same_values(batch, expected, "batch, afterwards,", rtol=1e-12, atol=1e-12)
        if batch.numel():
            shares(batch, before, "batch, afterwards,", "what it was")


@check("C3", category="memory", share=1, try_this="print the shape of every tensor on the way to the result")
def check_no_copies(student, rng):
    """Adds values without copies of them"""
    columns = rng.integer(1_000, 1_100)
    uses_at_most(student.add_to_columns_, (rng.normal(50, columns), rng.normal(50)), bytes=2_000)


@check("C4", category="memory", share=2, try_this="x = torch.ones(2); add_to_columns_(torch.zeros(2, 3), x); print(x)")
def check_arguments_stay(student, rng):
    """Leaves v and values as they are"""
    for dtype in (torch.float32, torch.float64):
        v, values = rng.normal(4, dtype=dtype), rng.normal(4, dtype=dtype)
        for function in (student.rows_of, student.own_rows):
            keeps_arguments(function, v, 4, what="v", requiring=False)
        with unchanged(values, what="values"):
            student.add_to_columns_(rng.normal(4, 4, dtype=dtype), values)


@check("C4", category="dtype", share=1, try_this="own_rows(torch.ones(2).double(), 3).dtype")
def check_dtype(student, rng):
    """Keeps dtypes"""
    for function in (student.rows_of, student.own_rows):
        keeps_dtypes(function, rng.normal(3), 3)


@check("C4", category="performance", share=1, try_this="look for a `for` over rows")
def check_no_loop(student, rng):
    """No loop over rows"""
    for function in (student.rows_of, student.own_rows):
        no_loop(function, (rng.normal(4), 4), (rng.normal(4), 9_000))
    no_loop(student.add_to_columns_, (rng.normal(4, 4), rng.normal(4)), (rng.normal(900, 900), rng.normal(900)))
