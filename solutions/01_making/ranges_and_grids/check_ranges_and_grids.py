import torch

from grader.check import assert_dtype, assert_shape, assert_tensor, assert_values, check


def has_values(yours, expected, name, **tolerance):
    what = f"the result of `{name}`"
    assert_tensor(yours, what)
    assert_shape(yours, expected, what)
    assert_values(yours, expected, what, **tolerance)


@check("C1", share=4, try_this="evens(3, 2), evens(1, 4), evens(0, 3).shape")
def check_evens(student, rng):
    """Counts in tables, also of one row, of one column, and empty ones"""
    a, b, _ = rng.sizes(3)
    for n, m in ((a, b), (b, a), (1, a), (a, 1), (0, a), (a, 0)):
        rows = [[2 * (m * row + column) for column in range(m)] for row in range(n)]
        has_values(student.evens(n, m), torch.tensor(rows, dtype=torch.int64).reshape(n, m), "evens")


@check("C2", share=3, try_this="grid(-1.0, 2.0, 4), grid(0.0, 0.3, 4), grid(5.0, 1.0, 3), grid(0, 1, 2)")
def check_grid(student, rng):
    """Makes grids of many points and of two, up and down"""
    lo, width = rng.integer(-5, 5), rng.integer(2, 9)
    for first, last, n in ((lo, lo + width, rng.integer(6, 12)), (lo, lo + 0.1 * width, 8), (lo + width, lo, 5)):
        points = [first + (last - first) * i / (n - 1) for i in range(n)]
        has_values(student.grid(float(first), float(last), n), torch.tensor(points, dtype=torch.float32), "grid")
    has_values(student.grid(1.0, 1.3, 4), torch.tensor([1.0, 1.1, 1.2, 1.3]), "grid")
    has_values(student.grid(0.0, 3.0, 2), torch.tensor([0.0, 3.0]), "grid")


@check("C3", share=3, try_this="ladder(0, 2), ladder(-2, -2), ladder(-5, 0)")
def check_ladder(student, rng):
    """Makes ladders of few powers, of one, and of many"""
    for a, b in ((rng.integer(-6, -3), rng.integer(0, 3)), (-2, -2), (0, 1), (3, 3), (-20, rng.integer(20, 30))):
        asked = torch.tensor([10.0**i for i in range(a, b + 1)])
        has_values(student.ladder(a, b), asked, "ladder", rtol=1e-4, atol=0.0)  # small powers count as large ones


@check("C4", share=2, try_this="filled(1, 2, 7), filled(1, 2, 7.5), filled(0, 3, 1).shape")
def check_filled(student, rng):
    """Fills tables, also empty ones, with ints and floats"""
    a, b, _ = rng.sizes(3)
    for n, m, value in ((a, b, rng.integer(1, 99)), (b, a, -0.5), (1, 1, 0), (0, a, 1.5), (a, 1, 2**53 + 1)):
        rows = torch.tensor([[value] * m] * n) if n else torch.empty(0, m)
        has_values(student.filled(n, m, value), rows, "filled")


@check("C5", share=2, try_this="scaled_identity(3, 2.5), scaled_identity(1, -1.0), scaled_identity(0, 1.0).shape")
def check_scaled_identity(student, rng):
    """Scales identities of many rows, of one and of none"""
    for n, c in ((rng.integer(3, 6), rng.choice((2.5, -3.0))), (2, -0.5), (1, 4.0), (0, 1.0), (2, 0.0)):
        rows = [[c if row == column else 0.0 for column in range(n)] for row in range(n)]
        has_values(student.scaled_identity(n, c), torch.tensor(rows).reshape(n, n), "scaled_identity")


@check("C1", category="dtype", share=3, try_this="evens(3, 2).dtype, evens(0, 2).dtype")
def check_evens_dtype(student):
    """evens gives int64"""
    for n in (3, 0):
        assert_dtype(student.evens(n, 2), torch.int64)


@check("C2", category="dtype", share=1, try_this="grid(0, 3, 4).dtype")
def check_grid_dtype(student):
    """grid gives float32"""
    assert_dtype(student.grid(0, 3, 4), torch.float32)


@check("C3", category="dtype", share=1, try_this="ladder(0, 2).dtype")
def check_ladder_dtype(student):
    """ladder gives float32"""
    assert_dtype(student.ladder(0, 2), torch.float32)


@check("C4", category="dtype", share=2, try_this="filled(1, 2, 7).dtype, filled(1, 2, 7.5).dtype")
def check_filled_dtype(student):
    """Chooses the dtype by the value"""
    assert_dtype(student.filled(2, 3, 3), torch.int64)
    assert_dtype(student.filled(2, 3, 3.0), torch.float32)


@check("C5", category="dtype", share=1, try_this="scaled_identity(2, 3).dtype")
def check_scaled_identity_dtype(student):
    """scaled_identity gives float32"""
    assert_dtype(student.scaled_identity(2, 3), torch.float32)
