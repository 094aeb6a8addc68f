from functools import partial
from itertools import product

import torch

from grader.check import (
    CannotJudge,
    as_fast_as,
    check,
    copies,
    count_ops,
    gradients,
    is_tensor,
    raises,
    require,
    same_dtype,
    same_shape,
    same_values,
    unchanged,
)

TRY_ONE_SIDE = "A = torch.randn(4, 4) + 4 * torch.eye(4); b = torch.randn(4); print(A @ solve(A, b) - b)"
TRY_MANY_SIDES = "A = torch.randn(4, 4) + 4 * torch.eye(4); b = torch.randn(4, 2); print(A @ solve(A, b) - b)"
TRY_HILBERT = "i = torch.arange(9.0); A = 1 / (i[:, None] + i + 1); b = A @ torch.ones(9); print(A @ solve(A, b) - b)"
TRY_DEFAULT_DTYPE = "torch.set_default_dtype(torch.float64); solve(torch.eye(2).int(), torch.eye(2).int())"
TRY_SINGULAR = "solve(torch.tensor([[1.0, 2.0], [2.0, 4.0]]), torch.tensor([3.0, 6.0]))"
TRY_NO_INVERSE = "look in your file for inv, inverse, pinv, tensorinv and matrix_power"
TRY_GRADIENTS = "b = torch.ones(2, requires_grad=True); solve(torch.eye(2), b).grad_fn"
TRY_SPEED = "torch.utils.benchmark.Timer('solve(A, b)', globals=globals()).timeit(20), A torch.randn(400, 400)"

INVERSES = {"linalg_inv_ex", "linalg_inv", "inverse", "linalg_pinv", "cholesky_inverse"}
"""What `torch.linalg.inv`, `inv_ex`, `pinv`, `matrix_power(A, -1)`, `tensorinv` and `torch.inverse` dispatch."""

LIMIT = 10
"""Allowed scaled residual. Measured over 40 seeds: elimination, QR and SVD reach 0.4, an inverse 400 million."""


@check("C1", share=2, try_this=TRY_ONE_SIDE)
def check_one_side(student, rng):
    """Solves random systems with one right-hand side"""
    for dtype in (torch.float64, torch.float32):
        _solves(student, *_system(rng, rng.integer(3, 7), dtype))


@check("C1", share=2, try_this=TRY_MANY_SIDES)
def check_many_sides(student, rng):
    """Solves random systems with several columns in b"""
    n = rng.integer(3, 6)
    for k in (2, n, n + 3):
        _solves(student, _matrix(rng, n), rng.normal(n, k, dtype=torch.float64))


@check("C1", try_this="A = (torch.randn(4, 4) + 4 * torch.eye(4)).T; b = torch.randn(4); print(A @ solve(A, b) - b)")
def check_views(student, rng):
    """Solves systems made of a transpose and a column"""
    n = rng.integer(3, 6)
    _solves(student, _matrix(rng, n).T, rng.normal(n, 4, dtype=torch.float64)[:, 1])


@check("C1", try_this="solve(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([3.0, 4.0]))")
def check_awkward_order(student, rng):
    """Solves systems with zeros on the diagonal of A"""
    n = rng.integer(3, 6)
    A = _matrix(rng, n).roll(1, 0)
    A.fill_diagonal_(0)
    _solves(student, A, rng.normal(n, dtype=torch.float64))


@check("C2", category="shape", try_this="solve(torch.eye(3), torch.ones(3, 1)).shape")
def check_shape(student, rng):
    """x has the shape of b"""
    n = rng.integer(3, 6)
    A = _matrix(rng, n)
    shapes = {"vector b": (n,), "b with one column": (n, 1), "square b": (n, n)}
    for case, shape in {**shapes, "b with more columns than rows": (n, n + 2)}.items():
        same_shape(student.solve(A, rng.normal(*shape, dtype=torch.float64)), shape, f"x for a {case}")
    one = torch.full((1, 1), 2.0)
    same_shape(student.solve(one, torch.ones(1)), (1,), "x for one equation and a vector b")
    same_shape(student.solve(one, torch.ones(1, 1)), (1, 1), "x for one equation and a b with one column")


@check("C3", share=3, try_this=TRY_HILBERT)
def check_hilbert(student, rng):
    """Solves nearly singular systems exactly enough"""
    steps = torch.arange(10, dtype=torch.float64)
    A = 1 / (steps[:, None] + steps + 1)
    for shape in ((10,), (10, 3)):
        _solves(student, A, A @ rng.normal(*shape, dtype=torch.float64))


@check("C4", category="dtype", try_this="solve(torch.eye(2).double(), torch.ones(2)).dtype")
def check_promotes(student):
    """x has the promoted dtype"""
    for first, second in product(("float32", "float64", "int64", "int32", "uint8"), repeat=2):
        A = torch.tensor([[2, 1], [1, 3]], dtype=getattr(torch, first))
        b = torch.ones(2, dtype=getattr(torch, second))
        asked = torch.promote_types(A.dtype, b.dtype)
        asked = asked if asked.is_floating_point else torch.float32
        same_dtype(student.solve(A, b), asked, f"x for a {first} matrix and a {second} vector")


@check("C4", try_this="solve(torch.tensor([[3, 1], [1, 2]]), torch.tensor([[1], [1]]))")
def check_whole_numbers(student, rng):
    """Solves systems of integers"""
    n = rng.integer(3, 5)
    A = torch.randint(-3, 4, (n, n), generator=rng) + 12 * torch.eye(n, dtype=torch.int64)
    _solves(student, A, torch.randint(-9, 10, (n, 2), generator=rng))
    _solves(student, A, rng.normal(n, dtype=torch.float64))


@check("C4", category="dtype", try_this=TRY_DEFAULT_DTYPE)
def check_default_dtype(student, probe):
    """Integers follow the default float dtype"""
    A, b = torch.tensor([[2, 1], [1, 3]]), torch.tensor([1, 1])
    is_tensor(student.solve(A, b), "x")
    x = probe.with_default_dtype(student.solve, torch.float64, A, b)
    same_dtype(x, torch.float64, "x, where the default dtype is float64,")


@check("C5", category="error", share=2, try_this="solve(torch.ones(2, 3, 3), torch.ones(2, 3))")
def check_not_square(student, rng):
    """Refuses an A that is not a square matrix"""
    raises(student.solve, rng.normal(4, 3), rng.normal(4), case="an A with more rows than columns")
    raises(student.solve, rng.normal(2, 4), rng.normal(2, 1), case="an A with more columns than rows")
    raises(student.solve, rng.normal(3), rng.normal(3), case="an A that is a vector")
    raises(student.solve, rng.normal(2, 3, 3), rng.normal(2, 3), case="an A that is a batch of matrices")


@check("C5", category="error", share=2, try_this="solve(torch.eye(3), torch.ones(2, 3, 1))")
def check_misfit(student, rng):
    """Refuses a b that does not fit A"""
    A = _matrix(rng, 3, torch.float32)
    raises(student.solve, A, rng.normal(4), case="a b with more entries than A has rows")
    raises(student.solve, A, rng.normal(2, 3), case="a b with one right-hand side in each row instead of each column")
    raises(student.solve, A, torch.tensor(1.0), case="a b that is a 0-dim tensor")
    raises(student.solve, A, rng.normal(2, 3, 1), case="a b with three dimensions")


@check("C6", category="error", share=2, try_this=TRY_SINGULAR)
def check_singular(student, rng):
    """Refuses singular matrices"""
    n = rng.integer(3, 5)
    # All steps of the elimination are exact with these numbers, so that every machine meets a pivot of exactly 0.
    column = 2.0 ** torch.randperm(n, generator=rng)
    row = torch.randint(1, 9, (n,), generator=rng)
    dependent = column[:, None] * row
    empty_column = _matrix(rng, n)
    empty_column[:, rng.integer(0, n - 1)] = 0
    for A, case in (
        (dependent, "an A whose rows are multiples of one row"),
        (empty_column, "an A with a column of zeros"),
        (torch.zeros(n, n), "an A of zeros"),
    ):
        raises(student.solve, A, A.sum(1), case=case)
        raises(student.solve, A, A.new_ones(n, 2), case=case)


@check("C6", try_this="solve(1e-20 * torch.eye(3), torch.ones(3))")
def check_small_numbers(student, rng):
    """Accepts matrices of small numbers"""
    n = rng.integer(3, 5)
    A, b = 1e-18 * _matrix(rng, n, torch.float32), rng.normal(n)
    _solves(student, A, b)
    _solves(student, torch.diag(torch.tensor([1.0, 2.0**-70, 4.0])), rng.normal(3))


@check("C7", category="performance", share=2, try_this=TRY_NO_INVERSE)
def check_no_inverse(student, rng):
    """Computes no inverse"""
    n = rng.integer(3, 6)
    A, b = _system(rng, n)
    x = student.solve(*copies(A, b))
    is_tensor(x, "x")
    if x.shape != b.shape or not _residual(A, b, x) <= 1e6:
        raise CannotJudge("x does not solve the system, so it does not matter how it was found")
    seen = count_ops(student.solve, A, b)
    require(not INVERSES & set(seen), "the inverse of A is computed on the way; solving needs none")


@check("C8", category="memory", try_this="b = torch.ones(2); solve(2 * torch.eye(2), b); print(b)")
def check_unchanged(student, rng):
    """Leaves A and b as they are"""
    A = _matrix(rng, 4)
    for b in (rng.normal(4, dtype=torch.float64), rng.normal(4, 2, dtype=torch.float64)):
        with unchanged(A, what="A"), unchanged(b, what="b"):
            student.solve(A, b)


@check("C9", category="gradient", share=2, try_this=TRY_GRADIENTS)
def check_gradients(student, rng):
    """Gradients reach A and b"""
    n = rng.integer(3, 5)
    for shape in ((n,), (n, 2)):
        A, b = _matrix(rng, n), rng.normal(*shape, dtype=torch.float64)
        is_tensor(student.solve(*copies(A, b)), "x")
        to_matrix, to_sides = gradients(student.solve, *copies(A, b))
        require(to_matrix is not None, "no gradient reaches A")
        require(to_sides is not None, "no gradient reaches b")
        # For the sum of x: the gradient of b solves the transposed system, that of A is an outer product with x.
        columns = b.reshape(n, -1)
        x, back = torch.linalg.solve(A, columns), torch.linalg.solve(A.T, torch.ones_like(columns))
        same_values(to_sides, back.reshape(shape), "the gradient of b", rtol=1e-4, atol=1e-5)
        same_values(to_matrix, -back @ x.T, "the gradient of A", rtol=1e-4, atol=1e-5)


@check("C10", category="performance", share=2, try_this=TRY_SPEED)
def check_speed(student, reference, rng):
    """Nearly as fast as our own answer"""
    # A determinant or a second factoring besides makes 2.2, an inverse 3.8, rows in Python 60.
    system = partial(_system, rng)
    as_fast_as(student.solve, reference.solve, system, size=400, at_most=2.8, rtol=1e-6, atol=1e-9)


def _system(rng, n, dtype=torch.float64):
    """A matrix and one right-hand side."""
    return _matrix(rng, n, dtype), rng.normal(n, dtype=dtype)


def _matrix(rng, n, dtype=torch.float64):
    """A random matrix far from singular, and not symmetric."""
    return rng.normal(n, n, dtype=dtype) + 2 * n * torch.eye(n, dtype=dtype)


def _residual(A, b, x):
    """How far A @ x is from b, in units of what rounding in the dtype of x explains."""
    A, b, exact = A.double(), b.double(), x.double()
    eps = torch.finfo(x.dtype if x.dtype.is_floating_point else torch.float64).eps
    scale = A.abs().sum(1).max() * exact.abs().max() + b.abs().max()
    return float((A @ exact - b).abs().max() / scale / (len(A) * eps))


def _solves(student, A, b):
    x = student.solve(*copies(A, b))
    is_tensor(x, "x")
    if x.shape != b.shape:
        raise CannotJudge("x does not have the shape of b, so A @ x cannot be compared with b")
    residual = _residual(A, b, x)
    text = "A @ x is not close enough to b"
    require(residual <= LIMIT, text, f"{text}: {residual:.1e} times what rounding explains, {LIMIT} times is allowed")
