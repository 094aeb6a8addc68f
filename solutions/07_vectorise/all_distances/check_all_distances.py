import math

import pytest
import torch

from grader.check import (
    allclose,
    assert_costs_at_most,
    assert_cpu_time_ratio,
    assert_does_not_mutate,
    assert_does_not_use,
    assert_dtype,
    assert_no_loop,
    assert_peak_memory_ratio,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    assert_values_unless_wrong_elsewhere,
    check,
)

CLOSE = {"rtol": 1e-3, "atol": 1e-3}
FAR = 10_000.0
TOWNS = "a = torch.tensor([[1.0, 2.0], [4.0, 6.0]]); pairwise(torch.cat([a + 1e4, a - 1e4]), a + 1e4)[:2]"
BOTH = pytest.mark.parametrize("name", ["pairwise", "pairwise_lean"])


def exact(a, b):
    """The distances by plain Python, in float64."""
    rows = [[math.dist(one, other) for other in b.tolist()] for one in a.tolist()]
    return torch.tensor(rows, dtype=torch.float64).reshape(len(a), len(b))


def points(rng, n, m, d, dtype=torch.float32):
    """Two sets of points."""
    return rng.normal(n, d, dtype=dtype), rng.normal(m, d, dtype=dtype)


@check("C1", share=1, try_this="pairwise_lean(torch.randn(4, 5), torch.randn(2, 5)) - pairwise(...) of the same")
@BOTH
def check_random(student, rng, name):
    """Random points of several dims"""
    for n, m, d in ((rng.integer(2, 4), rng.integer(5, 8), 3), (7, 5, 1), (1, 4, 2), (3, 2, 40)):
        a, b = points(rng, n, m, d)
        asked = exact(a, b)
        table = getattr(student, name)(a, b)
        assert_shape(table, (n, m))
        assert_values(table, asked, **CLOSE)


@check("C1", category="dtype", share=1, try_this="a = torch.randn(3, 2).double(); pairwise(a, a).dtype")
def check_dtype(student, rng):
    """Keeps the dtype, and its precision"""
    for function in (student.pairwise, student.pairwise_lean):
        for dtype, rtol, atol in ((torch.float32, 1e-3, 1e-6), (torch.float64, 1e-9, 0.0)):
            a, b = points(rng, 4, 6, 3, dtype)
            asked = exact(a, b)
            table = function(a, b)
            assert_dtype(table, dtype)
            if allclose(table, asked, **CLOSE):  # a wrong value is for other checks
                text = "the result for float64 is only as precise as a narrower dtype, such as float32"
                assert_true(allclose(table, asked, rtol=rtol, atol=atol), text)


@check("C1", category="shape", share=1, try_this="pairwise(torch.empty(0, 2), torch.ones(3, 2)).shape")
def check_none(student):
    """No stations, or no houses"""
    for function in (student.pairwise, student.pairwise_lean):
        for n, m in ((0, 3), (4, 0), (0, 0)):
            assert_shape(function(torch.zeros(n, 2), torch.zeros(m, 2)), (n, m))


@check("C2", share=1, try_this="a = torch.rand(40, 11); pairwise(a, a).diagonal(), and for pairwise_lean too")
@BOTH
def check_equal(student, rng, name):
    """Equal points are 0 apart"""
    for n, d in ((40, 11), (rng.integer(60, 80), 3)):
        a = 2 * rng.uniform(n, d) - 1
        table = getattr(student, name)(a, a.clone())
        assert_shape(table, (n, n))
        assert_true(not table.isnan().any(), "there is NaN: a root was taken of a number below 0")
        own = table.diagonal()
        assert_true((own.abs() <= 1.01e-6).all(), "equal points are not 0 apart", f"their distances are {own.tolist()}")


@check("C3", share=1, try_this=TOWNS)
@BOTH
def check_far(student, rng, name):
    """Points that lie far from the origin, on both sides of it"""
    n, d = rng.integer(20, 30), rng.integer(2, 3)
    a, b = ((64 * x).round() / 64 for x in points(rng, n, n, d))  # numbers that float32 has near 10,000, too
    asked = torch.stack([exact(a, b)] * 2)

    def within(far, scale=1):
        """The distances within a town on either side of the origin; centering brings neither of them near it."""
        table = getattr(student, name)(torch.cat([a + far, a - far]), torch.cat([scale * b + far, scale * b - far]))
        assert_shape(table, (2 * n, 2 * n))
        return torch.stack([table[:n, :n], table[n:, n:]])

    # What is wrong in the same way near the origin is for other checks.
    same, other = (lambda scale=scale: within(0.0, scale) for scale in (1, 2))
    assert_values_unless_wrong_elsewhere(within(FAR), asked, same, other, "the result far from the origin", **CLOSE)


@check("C4", category="performance", share=1, try_this="look for what runs more often for 100 points than for 10")
@BOTH
def check_no_loop_at_scale(student, rng, name):
    """No loop over points, and no list"""
    function = getattr(student, name)
    # PyTorch itself may take another way for more than 25 points, with some operations more.
    assert_no_loop(function, points(rng, 7, 6, 3), points(rng, 130, 110, 3), slack=8)
    assert_no_loop(function, points(rng, 7, 4, 3), points(rng, 10_000, 4, 3), slack=8)
    assert_costs_at_most(function, points(rng, 5, 4, 3), escapes=0)


@check("C4", category="performance", share=1, try_this="torch.utils.benchmark.Timer('pairwise(a, b)', ...)")
def check_faster_than_the_loop(student, reference, rng):
    """Much faster than the loop"""
    a, b = points(rng, 4, 5, 3)
    asked = exact(a, b)
    if allclose(student.pairwise(a, b), asked, **CLOSE):  # a wrong value is for other checks
        loop, stations = reference.given, lambda n: points(rng, n, 20, 3)
        # A loop over rows is about 30 times as fast, a mapped function 475, one table 700 and more; on a machine with
        # ten times as much to do as it can, right answers were 107 times as fast.
        assert_cpu_time_ratio(student.pairwise, loop, stations, size=60, at_most=1 / 70, named="the loop", **CLOSE)


@check("C5", category="memory", share=4, try_this="for n = m = 100 and d = 50, which line makes n * m * d numbers?")
def check_lean(student, reference, rng):
    """Needs no more memory than eight tables of distances"""
    n, m = rng.integer(140, 160), rng.integer(110, 130)
    assert_tensor(assert_costs_at_most(student.pairwise_lean, points(rng, n, m, 32), peak=8 * n * m * 4).result)
    lean, square = reference.pairwise_lean, lambda n: points(rng, n, n, 48)
    eight = "the memory of eight (n, m) tensors"
    assert_peak_memory_ratio(student.pairwise_lean, lean, square, size=600, at_most=8, limit=eight, **CLOSE)


@check("C6", share=1, try_this="look for cdist in your file")
def check_own(student, rng):
    """Does without cdist"""
    for function in (student.pairwise, student.pairwise_lean):
        assert_does_not_use(function, "cdist", "pdist")
        assert_tensor(function(*points(rng, 3, 4, 3)))


@check("C7", category="memory", share=1, try_this="a = torch.ones(2, 3); pairwise(a, torch.zeros(4, 3)); print(a)")
def check_kept(student, rng):
    """Leaves a and b as they were"""
    for function in (student.pairwise, student.pairwise_lean):
        a, b = points(rng, 4, 6, 3)
        turned = (x.mT.contiguous().mT for x in (a, b))  # `contiguous` of their transposes copies nothing
        for pair in ((a, b), tuple(turned), (a, a)):
            assert_does_not_mutate(function, *pair, what="a or b", requiring=False)
