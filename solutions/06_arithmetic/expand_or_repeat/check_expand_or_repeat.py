import torch

from grader.check import (
    changed,
    check,
    is_tensor,
    is_view_of,
    keeps_arguments,
    no_loop,
    require,
    same_dtype,
    same_shape,
    same_values,
    shares_nothing,
    unchanged,
    uses_at_most,
)

VIEWS = "v = torch.ones(2); rows_of(v, 3)[0, 0] = 5.0; print(v), rows_of(v, 0).shape"
OWN = "v = torch.ones(2); rows = own_rows(v, 3); rows[0, 0] = 5.0; print(rows, v)"
SQUARE = "batch = torch.zeros(2, 2); add_to_columns_(batch, torch.tensor([1.0, 2.0]))"
FEW = "add_bias_(torch.zeros(1, 3), torch.ones(3)), add_bias_(torch.zeros(0, 3), torch.ones(3)).shape"


def vectors(rng):
    """Vectors of several lengths, dtypes and strides."""
    a, b, _ = rng.sizes(3)
    yield from (rng.normal(length) for length in (a, 1, 0))
    yield rng.normal(b, dtype=torch.float64)
    yield rng.normal(2 * b)[1::2]


def batches(rng):
    """Batches of several shapes and strides, some of them square."""
    a, b, _ = rng.sizes(3)
    for shape in ((a, b), (b, a), (a, a), (1, a), (a, 1), (0, b)):
        yield rng.normal(*shape)
    yield rng.normal(b, a).T
    yield rng.normal(a, 2 * b)[:, ::2]
    yield rng.normal(a, b, dtype=torch.float64)


def has_numbers(batch, numbers):
    """The batch has these numbers afterwards: in float64 to more digits than float32 has."""
    expected = torch.tensor(numbers, dtype=batch.dtype).reshape(batch.shape)
    exact = {"rtol": 1e-12, "atol": 1e-12} if batch.dtype == torch.float64 else {}
    same_values(batch, expected, "batch, afterwards,", **exact)


def stays_in_its_memory(probe, function, rng):
    """The function writes into the memory that batch has."""
    right = probe.keeps_its_place(function, rng.normal(3, 3), rng.normal(3))
    require(right is True, "batch has other memory than before the call; write into the memory that it has")


def table_of(v, n):
    return torch.tensor([v.tolist()] * n, dtype=v.dtype).reshape(n, len(v))


@check("C1", category="memory", share=3, try_this=VIEWS)
def check_rows_of(student, rng):
    """Shows vectors many times, once and never"""
    for v in vectors(rng):
        for n in (rng.integer(2, 6), 1, 0):
            rows = student.rows_of(v, n)
            is_tensor(rows)
            same_shape(rows, (n, len(v)))
            same_values(rows, table_of(v, n))
            if rows.numel():
                is_view_of(rows, v, base_name="v")


@check("C2", category="memory", share=3, try_this=OWN)
def check_own_rows(student, rng):
    """Copies vectors into rows that can be written to"""
    for v in vectors(rng):
        for n in (rng.integer(2, 6), 1, 0):
            rows = student.own_rows(v, n)
            is_tensor(rows)
            same_shape(rows, (n, len(v)))
            same_values(rows, table_of(v, n))
            shares_nothing(rows, v, base_name="v")
            if rows.numel() and n > 1:
                require(rows.stride(0) != 0, "all rows lie in the same memory: a write to one changes the others")


@check("C3", share=3, try_this=FEW)
def check_add_bias(student, probe, rng):
    """Adds a bias to batches of any shape"""
    for batch in batches(rng):
        bias, rows = rng.normal(batch.shape[1], dtype=batch.dtype), batch.tolist()
        numbers = [[number + own for number, own in zip(row, bias.tolist(), strict=True)] for row in rows]
        result = student.add_bias_(batch, bias)
        is_tensor(result)
        require(result is changed(batch), "the result is another tensor than batch; change batch itself, and return it")
        has_numbers(batch, numbers)
    stays_in_its_memory(probe, student.add_bias_, rng)


@check("C3", category="memory", share=1, try_this="print the shape of every tensor on the way to add_bias_'s result")
def check_no_copies(student, rng):
    """Adds a bias without copies of it"""
    rows = rng.integer(1_000, 1_100)
    uses_at_most(student.add_bias_, (rng.normal(rows, 50), rng.normal(50)), bytes=2_000)


@check("C4", share=3, try_this=SQUARE)
def check_add_to_columns(student, probe, rng):
    """Adds a number to each row, also of square batches"""
    for batch in batches(rng):
        values, rows = rng.normal(batch.shape[0], dtype=batch.dtype), batch.tolist()
        numbers = [[number + own for number in row] for row, own in zip(rows, values.tolist(), strict=True)]
        result = student.add_to_columns_(batch, values)
        is_tensor(result)
        require(result is changed(batch), "the result is another tensor than batch; change batch itself, and return it")
        has_numbers(batch, numbers)
    stays_in_its_memory(probe, student.add_to_columns_, rng)


@check(
    "C5", category="memory", share=1, try_this="bias = torch.ones(2); add_bias_(torch.zeros(3, 2), bias); print(bias)"
)
def check_arguments_stay(student, rng):
    """Leaves v, bias and values as they are"""
    for dtype in (torch.float32, torch.float64):
        v, bias, values = (rng.normal(4, dtype=dtype) for _ in range(3))
        for function in (student.rows_of, student.own_rows):
            keeps_arguments(function, v, 4, what="v", requiring=False)
        with unchanged(bias, what="bias"):
            student.add_bias_(rng.normal(4, 4, dtype=dtype), bias)
        with unchanged(values, what="values"):
            student.add_to_columns_(rng.normal(4, 4, dtype=dtype), values)


@check("C5", category="dtype", share=1, try_this="own_rows(torch.ones(2).double(), 3).dtype")
def check_dtype(student, rng):
    """Keeps dtypes"""
    for dtype in (torch.float64, torch.float16):
        v = rng.normal(3).to(dtype)
        for result in (student.rows_of(v, 3), student.own_rows(v, 3)):
            is_tensor(result)
            same_dtype(result, dtype)


@check("C5", category="performance", share=1, try_this="look for a `for` over rows")
def check_no_loop(student, rng):
    """No loop over rows"""
    for function in (student.rows_of, student.own_rows):
        no_loop(function, (rng.normal(4), 4), (rng.normal(4), 9_000))
    for function in (student.add_bias_, student.add_to_columns_):
        no_loop(function, (rng.normal(4, 4), rng.normal(4)), (rng.normal(900, 900), rng.normal(900)))
