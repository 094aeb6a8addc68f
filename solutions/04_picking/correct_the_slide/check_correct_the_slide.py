import torch

from grader.check import (
    agrees,
    changed,
    check,
    gradients,
    is_tensor,
    is_view_of,
    require,
    same_shape,
    same_values,
)

TABLE = "t = torch.arange(12.0).reshape(3, 4)"
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8)


def tables(rng):
    """Tables of several dtypes: wide, high, of one row, of one column, and one with other strides."""
    rows, columns = rng.integers(3, 5, 2)
    for shape, dtype in zip(((rows, columns + 3), (columns + 3, rows), (1, columns), (rows, 1)), DTYPES, strict=True):
        yield torch.randint(0, 100, shape, generator=rng).to(dtype)
    yield rng.normal(columns + 3, rows).T
    yield rng.whole(0, 99, rows, columns + 2).to(torch.bfloat16)


def numbers(table):
    """The rows of a table as lists: plain Python gives the expected values, before the call."""
    return [list(row) for row in table.tolist()]


def table_of(rows, shape, dtype):
    """A table of a shape, also where it has no row or no column."""
    return torch.tensor(rows, dtype=dtype).reshape(shape)


def has_table(yours, asked, what):
    """The result is a tensor of this shape, with these numbers."""
    is_tensor(yours, what)
    same_shape(yours, asked, what)
    same_values(yours, asked, what)


def cases(size):
    """Values of n for a size, each with the words that name it."""
    return {1: "n = 1", size - 1: "all but one", size: "all of them", 0: "n = 0"}.items()


@check("C1", share=3, try_this=f"{TABLE}; first_rows(t, 3), first_rows(t, 0)")
def check_rows(student, rng):
    """The first rows: none, some, all"""
    for t in tables(rng):
        rows, columns = t.shape
        asked = [table_of(numbers(t)[:n], (n, columns), t.dtype) for n, _ in cases(rows)]
        found = (student.first_rows(t, n) for n, _ in cases(rows))
        for (_, case), yours, right in zip(cases(rows), found, asked, strict=True):
            has_table(yours, right, f"the result of `first_rows` for {case}")


@check("C2", share=3, try_this=f"{TABLE}; first_cols(t, 4), first_cols(t, 0)")
def check_columns(student, rng):
    """The first columns: none, some, all"""
    for t in tables(rng):
        rows, columns = t.shape
        asked = [table_of([row[:n] for row in numbers(t)], (rows, n), t.dtype) for n, _ in cases(columns)]
        found = (student.first_cols(t, n) for n, _ in cases(columns))
        for (_, case), yours, right in zip(cases(columns), found, asked, strict=True):
            has_table(yours, right, f"the result of `first_cols` for {case}")


@check("C3", category="shape", share=3, try_this=f"{TABLE}; last(t, True).shape, last(t, False).shape")
def check_last(student, rng):
    """The last row, with its dim and without it"""
    for t in tables(rng):
        columns = t.shape[1]
        for keep, shape in ((False, (columns,)), (True, (1, columns))):  # the shown check begins with the other one
            asked = table_of(numbers(t)[-1], shape, t.dtype)
            has_table(student.last(t, keep), asked, f"the result of `last` with keep={keep}")


@check("C4", category="memory", share=2, try_this=f"{TABLE}; first_cols(t, 2).fill_(7.0); print(t)")
def check_views(student, rng):
    """first_rows, first_cols and last give views"""
    calls = ((student.first_rows, 2), (student.first_cols, 2), (student.last, True), (student.last, False))
    for function, given in calls:
        for t in tables(rng):
            if min(t.shape) > 1:
                yours = function(t, given)
                is_tensor(yours)
                is_view_of(yours, t, f"the result of `{function}`", "t")
        back = gradients(function, rng.normal(3, 4), given)[0]
        require(back is not None, "no gradient flows back to t")


@check("C5", share=2, try_this=f"{TABLE}; set_first_cols_(t, 0, 7.0), set_first_cols_(t, 4, 9.0)")
def check_set(student, rng):
    """Puts a number in the first columns: none, some, all"""
    for t in tables(rng):
        for n, case in cases(t.shape[1]):
            v = rng.integer(100, 200)
            v = {torch.float64: v + 0.1, torch.int64: v + 2**53 + 1}.get(t.dtype, v)  # float32 rounds these
            asked = table_of([[v] * n + row[n:] for row in numbers(t)], t.shape, t.dtype)
            yours = student.set_first_cols_(t, n, v)
            if not agrees(yours, asked, rtol=0.0, atol=0.0):  # a changed copy costs the points of C6, not these
                same_values(changed(t), asked, f"t, afterwards, for {case},", rtol=0.0, atol=0.0)


@check("C6", category="memory", share=1, try_this=f"{TABLE}; set_first_cols_(t, 2, 0.0) is t")
def check_in_place(student, rng):
    """Changes a window in place, and returns it"""
    base = rng.normal(rng.integer(4, 6), rng.integer(7, 9))
    for t in (base[1:, ::2], base.T):
        columns = t[:, :2]
        yours = student.set_first_cols_(t, 2, 0.5)
        is_tensor(yours)
        require(yours is changed(t), "the result is another tensor than t; change t, and return t")
        if (t[:, :2] == 0.5).all():  # wrong columns are for other checks
            require((columns == 0.5).all(), "t got other memory: the table that t is a window on keeps its numbers")
