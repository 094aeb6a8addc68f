import torch

from grader.check import (
    allclose,
    assert_costs_at_most,
    assert_cpu_time_ratio,
    assert_differentiable,
    assert_does_not_mutate,
    assert_no_loop,
    assert_peak_memory_ratio,
    assert_preserves_dtype,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    gradients,
)

CLOSE = {"rtol": 1e-3, "atol": 1e-3}
HILBERT = 1 / (torch.arange(12)[:, None] + torch.arange(12) + 1).double()
CASES = ("a random matrix", "a nearly singular matrix", "a matrix with zeros on its diagonal")
MOST = 6  # times the bytes of A and the result; all pairs, or a copy of A for each column, take 20 to 30 times as many


@check("C1", share=2, try_this="A = torch.randn(5, 4, 4); solve_each(A, (A @ torch.ones(4, 1)).squeeze(2))")
def check_each(student, rng):
    """Random systems, one for each camera"""
    sizes = ((rng.integer(5, 8), 3, "many cameras"), (4, 4, "N = n"), (1, 3, "one camera"))
    for N, n, case in (*sizes, (5, 1, "one colour"), (1, 1, "one camera and one colour"), (0, 3, "no camera")):
        A, asked = _matrices(rng, N, n), _normal(rng, N, n)
        x = student.solve_each(A.clone(), _times(A, asked))
        assert_shape(x, asked, f"x for {case}")
        assert_values(x, asked, f"x for {case}", **CLOSE)


@check("C2", share=1, try_this="A = torch.randn(5, 4, 4); B = torch.randn(4, 3); print(A @ solve_common(A, B) - B)")
def check_common(student, rng):
    """Random readings that all cameras have in common"""
    sizes = ((rng.integer(5, 8), 3, 4, "many cameras"), (4, 3, 3, "n = k"), (3, 4, 3, "N = k"), (3, 3, 4, "N = n"))
    small = ((1, 3, 2, "one camera"), (6, 1, 2, "one colour"), (2, 3, 1, "one reading"))
    for N, n, k, case in (*sizes, *small, (0, 3, 2, "no camera"), (2, 3, 0, "no reading")):
        _solves_common(student, rng, N, n, k, case)


@check("C2", share=3, try_this="solve_common(torch.randn(2, 2, 2), torch.randn(2, 2)).shape")
def check_all_equal(student, rng):
    """As many cameras as colours and as readings"""
    for size in (rng.integer(3, 6), 1):
        _solves_common(student, rng, size, size, size, "N = n = k")


@check("C3", category="dtype", share=1, try_this="solve_each(torch.ones(1, 1, 1).double(), torch.ones(1, 1).double())")
def check_dtypes(student, rng):
    """Keeps the dtype"""
    for function, A, B in _calls(student, rng):
        assert_preserves_dtype(function, A, B, dtypes=(torch.float32, torch.float64))


@check("C3", share=2, try_this="i = torch.arange(5.0); A = 1 / (i[:, None] + i + 1); A @ solve_common(A[None], A) - A")
def check_exact(student, rng):
    """Exact, even if a matrix is nearly singular"""
    # Measured on 300 seeds, in n * eps: elimination by hand up to 430 and 4.4, an inverse from 10**6 and 65 on.
    for n, dtype, most in ((8, torch.float64, 5_000), (5, torch.float32, 20)):
        plain, zeros = _matrices(rng, 2, n)
        nearly = HILBERT[rng.integer(0, 2) :][:n, torch.randperm(n, generator=rng)]
        A = torch.stack([plain, nearly, zeros.roll(1, 0).fill_diagonal_(0)]).to(dtype)
        B, common = _times(A, _normal(rng, 3, n, dtype=dtype)), A[1] @ _normal(rng, n, 3, dtype=dtype)
        x, X = student.solve_each(A.clone(), B.clone()), student.solve_common(A.clone(), common.clone())
        for found, sides, name in ((x, B, "x"), (X, common.expand(3, n, 3), "X")):
            assert_tensor(found, name)
            if found.shape == sides.shape:  # other shapes are for other checks, as are wrong numbers for `plain`
                off, size = _misfit(A.double(), found.double().reshape(3, n, -1), sides.double().reshape(3, n, -1))
                if off[0] < 1e-3 * size[0]:
                    for case, fits in zip(CASES, off <= most * n * torch.finfo(dtype).eps * size, strict=True):
                        assert_true(bool(fits), f"{name} for {case} fits the equations worse than rounding explains")


@check("C4", category="performance", share=3, try_this="look for a line that runs more often for larger N or k")
def check_no_loop(student, rng):
    """No loop over systems or columns"""
    few, many = _matrices(rng, 6, 3), _matrices(rng, 60, 3)  # small, as elimination by hand may loop over n
    for more, columns in ((many, 40), (_matrices(rng, 6_000, 3), 4)):
        assert_no_loop(student.solve_each, (few, _normal(rng, 6, 3)), (more, _normal(rng, len(more), 3)))
        assert_no_loop(student.solve_common, (few, _normal(rng, 3, 4)), (more, _normal(rng, 3, columns)))
    assert_no_loop(student.solve_common, (few, _normal(rng, 3, 4)), (few, _normal(rng, 3, 4_000)))


@check("C4", category="performance", share=1, try_this="A = torch.eye(2).repeat(400, 1, 1); solve_each(A, A[:, 0])")
def check_speed(student, reference, rng):
    """Much faster than the loops"""
    # Measured: we are 100 times as fast and more, QR 24 times; one matrix of all blocks is slower than the loop.
    limit = {"size": 400, "at_most": 1 / 5, "named": "the loop you were given", **CLOSE}
    for function, loop, inputs in (
        (student.solve_each, reference.each_in_turn, _many(rng)),
        (student.solve_common, reference.common_in_turn, _many(rng, 3)),
    ):
        few = inputs(5)
        # A wrong value is for other checks.
        if allclose(function(*(each.clone() for each in few)), loop(*few), **CLOSE):
            assert_cpu_time_ratio(function, loop, inputs, **limit)


@check("C5", category="memory", share=2, try_this="what shapes do your tensors have if N is 1000 and k is 50?")
def check_memory(student, reference, rng):
    """Makes no larger tensors than it must"""
    each, common = (150, 4, (150, 4), (150, 4)), (9, 16, (16, 40), (9, 16, 40))
    for function, (N, n, shape, result) in ((student.solve_each, each), (student.solve_common, common)):
        A, B = _matrices(rng, N, n), _normal(rng, *shape)
        # A result of another shape is for other checks, and so is what a call does to its arguments.
        if getattr(function(A.clone(), B.clone()), "shape", None) == result:
            assert_costs_at_most(function, (A, B), peak=MOST * 8 * (A.numel() + torch.Size(result).numel()))
    # As seen from outside: all pairs of 1,000 systems, or a copy of A for each column, take 32 MB and more.
    each = lambda n: (_matrices(rng, n, 4), _normal(rng, n, 4))  # noqa: E731
    common = lambda n: (_matrices(rng, n, 16), _normal(rng, 16, 40))  # noqa: E731
    how = {"at_most": MOST, "limit": "6 times the memory of A and the result", **CLOSE}
    assert_peak_memory_ratio(student.solve_each, reference.solve_each, each, size=1_000, **how)
    assert_peak_memory_ratio(student.solve_common, reference.solve_common, common, size=800, **how)


@check("C6", category="gradient", share=1, try_this="B = torch.ones(1, 1).requires_grad_(); solve_each(B[None], B)")
def check_gradients(student, rng):
    """Gradients reach A and B"""
    for function, A, B in _calls(student, rng):
        if getattr(function(A.clone(), B.clone()), "dtype", None) == torch.float64:
            assert_differentiable(function, A, B, names=("A", "B"))
        else:  # what a wrong dtype rounds away is for C3
            for name, gradient in zip(("A", "B"), gradients(function, A, B), strict=True):
                assert_true(gradient is not None, f"no gradient reaches {name} of `{function}`")


@check("C7", category="memory", share=1, try_this="B = torch.ones(1, 1); solve_each(2 * B[None], B); print(B)")
def check_kept(student, rng):
    """Leaves A and B as they are"""
    for function, A, B in (*_calls(student, rng, torch.float32), *_calls(student, rng)):
        assert_tensor(assert_does_not_mutate(function, A, B, what=f"A or B of `{function}`"))


def _normal(rng, *shape, dtype=torch.float64):
    return rng.normal(*shape, dtype=dtype)


def _matrices(rng, N, n, dtype=torch.float64):  # random, and far from singular
    return _normal(rng, N, n, n, dtype=dtype) + 2 * n * (1 + torch.rand(n, generator=rng).to(dtype)).diag()


def _calls(student, rng, dtype=torch.float64):  # each function with arguments
    yield student.solve_each, _matrices(rng, 5, 3, dtype), _normal(rng, 5, 3, dtype=dtype)
    yield student.solve_common, _matrices(rng, 5, 3, dtype), _normal(rng, 3, 4, dtype=dtype)


def _many(rng, rows=None):  # new arguments of a size, for the clock
    return lambda N: (_matrices(rng, N, 3), _normal(rng, rows or N, 3 if rows is None else 4))


def _times(A, x):
    return (A @ x[..., None])[..., 0]


def _misfit(A, X, B):  # for each system, how far the equations are from holding, and the size of what is subtracted
    return (A @ X - B).abs().amax((1, 2)), A.abs().sum(2).amax(1) * X.abs().amax((1, 2))


def _solves_common(student, rng, N, n, k, case):
    A, B = _matrices(rng, N, n), _normal(rng, n, k)
    X = student.solve_common(A.clone(), B.clone())
    assert_shape(X, (N, n, k), f"X for {case}")
    assert_values(A @ X.double(), B.expand(N, n, k), f"A @ X for {case}", **CLOSE)
