from contextlib import suppress
from itertools import product

import torch

from grader.check import (
    assert_cpu_time_ratio,
    assert_differentiable,
    assert_does_not_mutate,
    assert_does_not_raise,
    assert_dtype,
    assert_no_loop,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    count_ops,
    gradients,
    raises,
)

HILBERT = 1 / (torch.arange(12)[:, None] + torch.arange(12) + 1).double()
# But in C1 and C6, b is as large as A and mostly A itself: who confuses them, or makes columns, loses nothing more.


@check("C1", share=4, try_this="solve(torch.tensor([[2.0, 1.0], [0.0, 4.0]]), torch.tensor([[4.0], [8.0]]))")
def check_systems(student, rng):
    """Solves for one right-hand side and for several"""
    for n, dtype in product((rng.integer(3, 6), 1), (torch.float64, torch.float32)):
        A, asked = _matrix(rng, n, dtype).T, rng.normal(n, n + 2, dtype=dtype)
        for columns in (0, slice(1), slice(n), slice(n + 2)):
            x = student.solve(A.clone(), (A @ asked)[:, columns])
            assert_shape(x, asked[:, columns], "x")
            assert_values(x, asked[:, columns], "x", rtol=1e-3, atol=1e-3)


@check("C2", share=2, try_this="i = torch.arange(9.0); A = 1 / (i[:, None] + i + 1); print(A @ solve(A, A) - A)")
def check_exact(student, rng):
    """Is exact if A is nearly singular, without an inverse"""
    narrow = False
    for n, dtype in ((8, torch.float64), (5, torch.float32)):
        A = 1e5 * HILBERT[rng.integer(0, 2) :][:n, :n].to(dtype)  # with a determinant that is not small
        x = student.solve(A.clone(), A.clone())
        assert_tensor(x, "x")
        narrow |= dtype == torch.float64 and x.dtype == torch.float32
        eps = torch.finfo(torch.float32 if narrow else dtype).eps
        # Elimination, QR and SVD reach less than a twentieth of this, an inverse a thousand times as much.
        assert_values(A.double() @ x.double(), A, "A @ x", rtol=0, atol=10 * n * eps * float(A.sum(1).max()))
        seen = count_ops(student.solve, A, _matrix(rng, n, dtype))
        with suppress(RuntimeError):
            seen += count_ops(student.solve, _matrix(rng, n, torch.int64), _matrix(rng, n, torch.int64))
        assert_true(
            not {"linalg_inv_ex", "linalg_pinv"} & set(seen), "the inverse of A is computed; solving needs none"
        )
    if narrow:  # its digits are for C3, and how many of them are lost here is luck
        return
    # Rows that are nearly dependent, of usual size and with a usual determinant: what is added to A shows here.
    A = 100 * rng.normal(4, 4, dtype=torch.float64)
    A[3] = A[:3].sum(0) + 1e-7 * A[3]
    x = student.solve(A.clone(), A.clone())
    assert_tensor(x, "x")
    assert_values(A @ x.double(), A, "A @ x", rtol=0, atol=40 * 2.0**-52 * float(A.abs().sum(1).max()))


@check("C3", category="dtype", share=2, try_this="solve(torch.tensor([[2**24 + 1]]), torch.ones(1, 1).double()).item()")
def check_dtypes(student, probe, rng):
    """Converts A and b to the right dtype"""
    # Two of float64 come first: it shows who makes float32 of everything, not of one of the two, or of integers.
    dtypes = (torch.float64, torch.float32, torch.int64, torch.int32, torch.uint8)
    for first, second, default in product(dtypes, dtypes, dtypes[:2]):
        both = torch.promote_types(first, second)
        A, b = torch.tensor([[2, 1], [1, 3]], dtype=first), torch.tensor([[1, 2], [0, 1]], dtype=second)
        x = probe.with_default_dtype(student.solve, default, A, b)
        assert_dtype(x, both if both.is_floating_point else default, f"x for an A of {first} and a b of {second}")
    A = (2**24 + 2 * torch.randint(0, 9, (3,), generator=rng) + 1).diag() + 1 - torch.eye(3).long()  # not in float32
    for first, second in ((torch.int64, torch.float64), (torch.float64, torch.int64)):
        assert_values(student.solve(A.to(first), A.to(second)), torch.eye(3), "x for long integers", rtol=0, atol=1e-8)


@check("C4", category="error", try_this="solve(torch.ones(4, 4, 4), torch.ones(4, 4))")
def check_misfits(student, rng):
    """Refuses shapes that make no system"""
    for A in ((4, 3), (2, 4), (3,), (), (2, 3, 3), (3, 3, 3)):
        raises(student.solve, rng.normal(*A), rng.normal(*A[:-1] or (1,)), case="an A that is not a square matrix")
    for b in ((4,), (2, 3), (), (3, 2, 1), (3, 3, 3)):
        raises(student.solve, _matrix(rng, 3, torch.float32), rng.normal(*b), case="a b that does not fit A")


@check("C5", category="error", share=2, try_this="solve(torch.tensor([[0.0, 1e-30], [1e-30, 0.0]]), torch.eye(2))")
def check_singular(student, rng):
    """Refuses singular matrices, and no others"""
    # All steps of the elimination are exact with these numbers, so that every machine meets a pivot of exactly 0.
    multiples = 2.0 ** torch.randperm(4, generator=rng)[:, None] * torch.randint(1, 9, (4,), generator=rng)
    column = _matrix(rng, 4).index_fill(1, torch.tensor(rng.integer(0, 3)), 0)
    for A, case in ((multiples, "multiples of one row"), (column, "a column of zeros"), (0 * column, "only zeros")):
        raises(student.solve, A, A.clone(), case=f"an A with {case}")
    raises(student.solve, torch.zeros(1, 1), torch.ones(1), case="an A with only zeros")  # x is infinite, and not NaN
    fine = {"a zero diagonal": _matrix(rng, 4).roll(1, 0).fill_diagonal_(0), "small numbers": 1e-18 * _matrix(rng, 4)}
    for (case, A), dtype in product({**fine, "nearly equal rows": HILBERT}.items(), (torch.float64, torch.float32)):
        assert_does_not_raise(student.solve, A.to(dtype), A.T.to(dtype), case=f"an A with {case}, in {dtype}")


@check("C6", category="memory", try_this="b = torch.ones(2); solve(2 * torch.eye(2), b); print(b)")
def check_unchanged(student, rng):
    """Leaves A and b as they are"""
    for dtype, columns in product((torch.float64, torch.float32), (0, slice(4))):
        A, b = _matrix(rng, 4, dtype), _matrix(rng, 4, dtype)[:, columns].clone()
        assert_tensor(assert_does_not_mutate(student.solve, A, b, what="A or b"), "x")
    with suppress(RuntimeError, ValueError):  # who refuses integers breaks another rule
        assert_does_not_mutate(student.solve, _matrix(rng, 4, torch.int64), _matrix(rng, 4, torch.int64), what="A or b")


@check("C7", category="gradient", try_this="b = torch.ones(2, requires_grad=True); solve(torch.eye(2), b).grad_fn")
def check_gradients(student, rng):
    """Gradients reach A and b"""
    A, b = _matrix(rng, 3), _matrix(rng, 3)
    for args in ((A.float(), b), (A, b.float()), (A, b)):
        if getattr(student.solve(*(arg.clone() for arg in args)), "dtype", None) == torch.float64:
            assert_differentiable(student.solve, *args, names=("A", "b"))
        else:  # what a wrong dtype rounds away is for C3
            for name, gradient in zip(("A", "b"), gradients(student.solve, *args), strict=True):
                assert_true(gradient is not None, f"no gradient reaches {name} of `solve`")


@check("C8", category="performance", share=2, try_this="solve(torch.eye(200), torch.ones(200, 200)), timed")
def check_together(student, reference, rng):
    """Solves for all columns of b together"""
    for n in (40, 100):
        assert_no_loop(student.solve, (_matrix(rng, 4), _matrix(rng, 4)), (_matrix(rng, n), _matrix(rng, n)))
    # Measured: QR or SVD takes 2 to 9 times as long as we do, a system for each column or rows in Python 50 to 100.
    assert_cpu_time_ratio(
        student.solve, reference.solve, lambda n: 2 * (_matrix(rng, n).cov() + 1,), size=200, at_most=12
    )


def _matrix(rng, n, dtype=torch.float64):
    """A random matrix far from singular."""
    return (rng.normal(n, n, dtype=torch.float64) + 2 * n * torch.eye(n)).to(dtype)
