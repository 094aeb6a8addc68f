from contextlib import suppress

import numpy as np
import torch

from grader.check import (
    allclose,
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_no_loop,
    assert_no_warnings,
    assert_preserves_dtype,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)

TINY = 2.0**30
"""What small numbers are smaller by, without rounding: an absolute tolerance takes them for zeros."""


def matrix(rng, h, w, *front):
    """A matrix, or a batch of them, whose singular values are well apart."""
    n = min(h, w)
    U = torch.linalg.qr(rng.normal(*front, h, n, dtype=torch.float64))[0]
    V = torch.linalg.qr(rng.normal(*front, w, n, dtype=torch.float64))[0]
    values = torch.arange(n, 0, -1) + 0.5 * rng.uniform(*front, n, dtype=torch.float64)
    return U, values, V.mT


def has_values(result, expected, what, atol=1e-4):
    assert_tensor(result, what)
    assert_shape(result, expected, what)
    assert_true(not result.is_complex(), f"{what} is complex; expected real numbers")
    assert_values(result, expected, what, rtol=1e-3, atol=atol)


@check("C1", share=9, try_this="M = torch.randn(5, 3); torch.linalg.svdvals(compressed(M, 2)), M - compressed(M, 3)")
def check_compressed(student, rng):
    """The nearest matrix of each rank"""
    for h, w in ((5, 3), (3, 5), (4, 4), (1, 4), (6, 1)):
        U, values, Vh = matrix(rng, h, w)
        for k in range(min(h, w) + 1):
            expected = ((U[:, :k] * values[:k]) @ Vh[:k]).float()
            has_values(student.compressed(((U * values) @ Vh).float(), k), expected, "the result of `compressed`")
    equal = 3 * torch.eye(5)[rng.permutation(5)][:4]
    for k in range(5):
        result = student.compressed(equal.clone(), k)
        assert_shape(result, equal, "the result of `compressed`")
        for rest, rank in ((result, k), (equal - result, 4 - k)):  # not unique, but this is
            found = torch.linalg.svdvals(rest.double())
            nearest = allclose(found, torch.tensor([3.0] * rank + [0.0] * (4 - rank)), rtol=1e-3, atol=1e-4)
            assert_true(nearest, "the result is not a nearest matrix of rank k where singular values of M are equal")


@check("C2", category="memory", share=5, try_this="compressed(torch.randn(5000, 3), 2), of little memory")
def check_thin_memory(student, rng):
    """Tall and wide matrices without a square one"""
    rows, columns = rng.integer(1000, 1400), rng.integer(3, 5)
    for shape in ((rows, columns), (columns, rows)):
        assert_costs_at_most(student.compressed, (rng.normal(*shape), 2), bytes=8 * 4 * rows * columns)


@check("C3", share=9, try_this="spectral_radius(torch.tensor([[1.0, -3], [3, 1]])), spectral_radius(-torch.ones(2, 2))")
def check_radius(student, rng):
    """Complex, negative and positive eigenvalues"""
    angle, scale = 0.3 + 1.2 * rng.uniform().item(), 1 + rng.uniform().item()
    turn = scale * torch.tensor([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    mixed = torch.block_diag(turn, torch.tensor([[-0.5]])).float()
    triangle = torch.tensor([[-3.0, 50.0], [0.0, 2.0]])
    for A in (turn.float(), mixed, triangle, -triangle, rng.normal(5, 5), torch.tensor([[-4.0]]), torch.zeros(3, 3)):
        expected = torch.tensor(np.abs(np.linalg.eigvals(A.double().numpy())).max())
        has_values(student.spectral_radius(A), expected.float(), "the result of `spectral_radius`")
        small = TINY * student.spectral_radius(A / TINY)
        has_values(small, expected.float(), "the result of `spectral_radius` for small numbers, scaled,")


@check("C4", share=9, try_this="X = torch.randn(3, 5) + 7; variances(X), torch.cov(X.T).trace()")
def check_variances(student, rng):
    """Variances of clouds far from 0, also with few samples"""
    for n, d in ((30, 4), (6, 5), (3, 5), (2, 2), (5, 5)):
        X = rng.normal(n, d) * torch.arange(1.0, d + 1) + rng.normal(d) * 5 + (4000 if n == d else 0)
        expected = torch.tensor(np.linalg.eigvalsh(np.cov(X.double().numpy().T))[::-1].copy()).float()
        has_values(student.variances(X), expected, "the result of `variances`", atol=2e-3)


def triangles(rng, n):
    """Triangles with sides that are well apart."""
    corner = rng.normal(n, 1, 3)
    turned = torch.linalg.qr(rng.normal(n, 3, 3))[0]
    sides = torch.tensor([[0.0, 0.0, 0.0], [2.0, 0.3, 0.0], [0.5, 1.5, 0.0]]) @ turned
    return corner + sides


@check("C5", share=9, try_this="normals(torch.tensor([[[0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [2.0, 0.0, 0.0]]] * 3))")
def check_normals(student, rng):
    """One, three and more triangles in all directions"""
    for n in (3, 1, 5, 2):
        P = triangles(rng, n)
        sides = (P[:, 1:] - P[:, :1]).numpy()
        across = np.cross(sides[:, 0], sides[:, 1])
        expected = torch.tensor(across / np.sqrt((across**2).sum(1, keepdims=True)))
        has_values(student.normals(P), expected, "the result of `normals`")
        has_values(student.normals(P / 2**23), expected, "the result of `normals` for small triangles")


@check("C6", share=3, try_this="compressed(torch.ones(2, 3, 4, 5), 1).shape")
def check_batches(student, rng):
    """Compresses batches of matrices"""
    for front in ((2,), (3, 2)):
        U, values, Vh = matrix(rng, 4, 3, *front)
        expected = ((U[..., :2] * values[..., None, :2]) @ Vh[..., :2, :]).float()
        M = ((U * values[..., None, :]) @ Vh).float()
        has_values(student.compressed(M, 2), expected, "the result of `compressed`")


@check("C6", share=3, try_this="spectral_radius(torch.ones(4, 2, 2)), spectral_radius(torch.ones(3, 4, 2, 2))")
def check_many_radii(student, rng):
    """A spectral radius for each matrix of a batch"""
    for front in ((2,), (3, 2)):
        scale, A = 1 + rng.uniform(*front), torch.zeros(*front, 3, 3)
        A[..., 0, 0], A[..., 0, 2] = -0.5, 9.0
        A[..., 1:, 1:] = scale[..., None, None] * torch.tensor([[0.6, -0.8], [0.8, 0.6]])
        has_values(student.spectral_radius(A), scale, "the result of `spectral_radius`")


def calls(student, rng):
    """Each function with arguments."""
    yield student.compressed, rng.normal(4, 3), 2
    yield student.spectral_radius, rng.normal(3, 3)
    yield student.variances, rng.normal(6, 3)
    yield student.normals, triangles(rng, 4)


@check("C7", category="error", share=2, try_this="python -W error: normals(torch.randn(5, 3, 3))")
def check_no_warning(student, rng):
    """Nothing warns"""
    for function, *args in calls(student, rng):
        assert_no_warnings(function, *args)


@check("C7", category="memory", share=2, try_this="look for a `for`, and for functions with an underscore at the end")
def check_plain(student, rng):
    """Leaves the arguments as they are, and runs no loop"""
    for function, *args in calls(student, rng):
        assert_does_not_mutate(function, *args, what=f"the argument of `{function}`")
    assert_no_loop(student.normals, (triangles(rng, 3),), (triangles(rng, 900),))
    assert_no_loop(student.variances, (rng.normal(9, 3),), (rng.normal(90, 30),))
    assert_no_loop(student.compressed, (rng.normal(6, 5), 2), (rng.normal(60, 50), 40))
    for function, *more in ((student.compressed, 1), (student.spectral_radius,)):
        with suppress(RuntimeError, IndexError, TypeError, ValueError):  # who takes no batches breaks another rule
            assert_no_loop(function, (rng.normal(2, 3, 3), *more), (rng.normal(300, 3, 3), *more))


@check("C8", category="dtype", share=2, try_this="spectral_radius(torch.eye(2).double()).dtype")
def check_dtypes(student, rng):
    """Keeps float32 and float64"""
    for function, *args in calls(student, rng):
        assert_preserves_dtype(function, *args, dtypes=(torch.float32, torch.float64))
