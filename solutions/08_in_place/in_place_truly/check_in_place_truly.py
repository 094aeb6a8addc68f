import math

import pytest
import torch

from grader.check import (
    CannotJudge,
    after_call,
    allclose,
    assert_costs_at_most,
    assert_peak_memory_ratio,
    assert_true,
    assert_values,
    calling,
    check,
)

EACH = pytest.mark.parametrize("name", ["axpy_", "sine_", "reset_"])


def case(student, name, t, rng):
    """A function, and its arguments for a tensor t."""
    more = (float(rng.integer(2, 5)) + 0.5, rng.normal(*t.shape, dtype=t.dtype)) if name == "axpy_" else ()
    return getattr(student, name), (t, *more)


def asked_of(name, t, a=0.0, x=0.0):
    """The numbers that come out, in float64."""
    wide = t.double()
    return {"axpy_": wide + a * x, "sine_": wide.sin(), "reset_": torch.zeros_like(wide)}[name]


@check("C1", share=1, try_this="sine_(torch.randn(2, 3)), reset_(torch.tensor([1, 2])), reset_(torch.tensor(math.nan))")
@EACH
def check_random(student, name, rng):
    """Numbers of random tensors"""
    shapes = ((rng.integer(2, 5), rng.integer(6, 9), 2), (1,), (0, 3))
    tensors = [rng.normal(*shape, dtype=dtype) for shape in shapes for dtype in (torch.float32, torch.float64)]
    if name == "reset_":
        tensors += [torch.tensor([math.nan, -math.inf, 2.0]), rng.whole(1, 8, 4), torch.ones(3) > 0]
    for t in tensors:
        function, args = case(student, name, t, rng)
        asked = asked_of(name, *args)
        with calling(function, *args) as result:
            if not allclose(result, asked, rtol=1e-5, atol=1e-5):  # in the result or in the argument: that is for C2
                assert_values(after_call(t), asked, f"the first argument after `{name}`", rtol=1e-5, atol=1e-5)


@check("C2", category="memory", share=2, try_this="base = torch.rand(4, 3); print(reset_(base[:, 1]), base)")
@EACH
def check_views(student, name, rng):
    """What a view shows changes in its base, and the view is returned"""
    rows, columns = rng.integer(4, 6), rng.integer(7, 9)
    inside, base = torch.zeros(rows, columns, dtype=torch.bool), 1 + rng.uniform(rows, columns)
    for view in (base[:, 2], base[1:3], base.T[1:4], base[::2, 3:]):
        before = base.uniform_(1, 2, generator=rng).clone()
        function, args = case(student, name, view, rng)
        result = function(*args)
        inside.zero_().as_strided(view.shape, view.stride(), view.storage_offset()).fill_(True)
        assert_true(not (base == before)[inside].any(), f"`{name}` does not change the numbers where they lie")
        assert_true((base == before)[~inside].all(), f"`{name}` changes numbers beside its argument")
        assert_true(result is view, f"`{name}` does not return its first argument itself")


@check("C3", category="performance", share=1, try_this="look for an operation whose name has no trailing underscore")
@EACH
def check_no_memory(student, reference, name, rng):
    """No second tensor"""
    for t in (rng.normal(rng.integer(20, 30), 9), rng.normal(8, rng.integer(20, 30)).T[3:]):
        function, args = case(student, name, t, rng)
        before = t.clone()
        assert_costs_at_most(function, args, bytes=64, escapes=0)
        if torch.equal(t, before):
            raise CannotJudge(f"`{name}` changes nothing yet; what it needs for that is judged later")
    # As seen from outside, where a second tensor takes 38 MB.
    more = lambda n: (2.5, torch.full((n,), 0.5)) if name == "axpy_" else ()  # noqa: E731
    large = lambda n: (torch.ones(n), *more(n))  # noqa: E731
    mine, right = getattr(student, name), getattr(reference, name)
    assert_peak_memory_ratio(mine, right, large, size=10_000_000, at_most=1, limit="64 bytes of new memory")


@check("C4", share=1, try_this="axpy_(torch.zeros(4, 2), 3.0, torch.tensor([1.0, 2.0]))")
def check_broadcast(student, rng):
    """x is broadcast to y"""
    rows, columns = rng.integers(3, 6, 2)
    for shape in ((columns,), (1, columns), (rows, 1), ()):
        y, x = rng.normal(rows, columns), rng.normal(*shape)
        whole = student.axpy_(y.clone(), 1.5, x.expand(rows, columns).clone())
        with calling(student.axpy_, y, 1.5, x) as result:  # what comes out for an x of the shape of y has checks above
            assert_values(result, whole, "the result for an x that is broadcast")
