import itertools
import math

import pytest
import torch

from grader.check import (
    CannotJudge,
    agrees,
    as_lean_as,
    calling,
    changed,
    check,
    raises,
    require,
    same_values,
    unchanged,
    uses_at_most,
)

EACH = pytest.mark.parametrize("name", ["axpy_", "sine_", "reset_"])
MOST_BYTES = 64
BASE = (
    "base = torch.rand(4, 3); reset_(base[:, 1]); sine_(base.T[0]); axpy_(base[2:], 2.0, torch.ones(2, 3)); print(base)"
)
SAME = "t = torch.rand(3); print(sine_(t) is t, reset_(t) is t, axpy_(t, 2.0, torch.ones(3)) is t)"


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
        odd = torch.tensor([math.nan, -math.inf, 2.0])
        tensors += [odd, torch.randint(1, 9, (4,), generator=rng), torch.ones(3) > 0]
    for t in tensors:
        function, args = case(student, name, t, rng)
        asked = asked_of(name, *args)
        with calling(function, *args) as result:
            if not agrees(result, asked, rtol=1e-5, atol=1e-5):  # in the result or in the argument: a rule of its own
                same_values(changed(t), asked, f"the first argument after `{name}`", rtol=1e-5, atol=1e-5)


@check("C2", category="memory", share=1, try_this=BASE)
@EACH
def check_windows(student, name, rng):
    """What lies below a window changes"""
    rows, columns = rng.integer(4, 6), rng.integer(7, 9)
    for window in (
        lambda base: base[:, 2],
        lambda base: base[1:3],
        lambda base: base.T[1:4],
        lambda base: base[::2, 3:],
    ):
        base = 1 + rng.uniform(rows, columns)
        before = base.clone()
        function, args = case(student, name, window(base), rng)
        function(*args)
        inside = torch.zeros(rows, columns, dtype=torch.bool)
        window(inside).fill_(True)
        require(not (base == before)[inside].any(), f"`{name}` does not change the numbers where they lie")
        require((base == before)[~inside].all(), f"`{name}` changes numbers beside its argument")


@check("C2", category="memory", share=1, try_this=SAME)
@EACH
def check_returned(student, name, rng):
    """Returns its argument itself"""
    t = rng.normal(2, rng.integer(3, 6))
    function, args = case(student, name, t, rng)
    result = function(*args)
    require(result is not None, f"`{name}` returns None (is a `return` missing?)")
    require(result is t, f"`{name}` returns another object than its first argument")


@check("C3", category="performance", share=1, try_this="look for an operation whose name has no trailing underscore")
@EACH
def check_no_memory(student, reference, name, rng):
    """No second tensor"""
    for t in (rng.normal(rng.integer(20, 30), 9), rng.normal(8, rng.integer(20, 30)).T[3:]):
        function, args = case(student, name, t, rng)
        before = t.clone()
        uses_at_most(function, args, bytes=MOST_BYTES, escapes=0)
        if torch.equal(t, before):
            raise CannotJudge(f"`{name}` changes nothing yet; what it needs for that is judged later")
    # As seen from outside, where a second tensor takes 38 MB.
    more = lambda n: (2.5, torch.full((n,), 0.5)) if name == "axpy_" else ()  # noqa: E731
    large = lambda n: (torch.ones(n), *more(n))  # noqa: E731
    as_lean_as(getattr(student, name), getattr(reference, name), large, size=10_000_000, at_most=1)


@check("C4", share=1, try_this="axpy_(torch.zeros(4, 2), 3.0, torch.tensor([1.0, 2.0]))")
def check_broadcast(student, rng):
    """x is broadcast to y"""
    rows, columns = rng.integers(3, 6, 2)
    for shape in ((columns,), (1, columns), (rows, 1), ()):
        y, x = rng.normal(rows, columns), rng.normal(*shape)
        whole = student.axpy_(y.clone(), 1.5, x.expand(rows, columns).clone())
        with calling(student.axpy_, y, 1.5, x) as result:  # what comes out for an x of the shape of y has checks above
            same_values(result, whole, "the result for an x that is broadcast")


@check("C4", category="error", share=1, try_this="y = torch.zeros(4, 1); axpy_(y, 3.0, torch.ones(4, 2))")
def check_growth(student, rng):
    """Raises RuntimeError where y would have to grow"""
    rows, columns = rng.integers(3, 6, 2)
    sizes = ((columns,), (rows, columns)), ((rows, 1), (rows, columns)), ((), (columns,))
    for (mine, other), a in itertools.product(sizes, (1.0, 0.0)):
        y, x = rng.normal(*mine), rng.normal(*other)
        before = y.clone()
        raises(student.axpy_, y, a, x, error=RuntimeError, case="an x to whose shape y would have to grow")
        same_values(y, before, "y after the error")


@check(
    "C5", category="memory", share=1, try_this="x = torch.ones(3); axpy_(torch.zeros(3), 2.0, x); print(x, x._version)"
)
def check_x_untouched(student, rng):
    """Never writes to x"""
    for shape in ((rng.integer(4, 9),), (3, rng.integer(4, 9)), (1,)):
        y, x = rng.normal(*shape), rng.normal(*shape)
        with unchanged(x, what="x"):
            student.axpy_(y, 0.3, x)
