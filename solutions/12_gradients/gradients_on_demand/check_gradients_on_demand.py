import torch

from grader.check import (
    as_tuples,
    assert_does_not_mutate,
    assert_dtype,
    assert_shape,
    assert_true,
    assert_values,
    check,
    facts,
)

CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def cubes(probe, rng, dtype=torch.float32):
    """A function, two tensors, and its gradients there in float64."""
    sizes = rng.integers(2, 6, 2)
    x, y = 2 * rng.normal(*sizes, dtype=dtype), rng.normal(*sizes, dtype=dtype)
    a, b = rng.integer(1, 5) / 2, rng.integer(-9, -2) / 4
    exact = 3 * a * x.double() ** 2 + b * y.double(), b * x.double()
    return probe.function(f"{a} * x**3 + {b} * x * y"), x, y, exact


def of_unused(student, probe, rng, dtype=torch.float64):
    """The gradient of a tensor that f does not use."""
    found = student.grad_of(probe.function("1.5 * x**2"), rng.normal(3), rng.whole(1, 9, 2, 3, dtype=dtype))
    assert_true(isinstance(found, (tuple, list)) and len(found) == 2, "there is not one gradient for each tensor")
    return found[1]


@check("C1", share=5, try_this="x = torch.ones(2); grad_of(lambda a, b: (a * a * b).sum(), x, x)")
def check_random(student, probe, rng):
    """The gradients of a random function of two matrices, and of one tensor in two places"""
    f, x, y, exact = cubes(probe, rng)
    assert_values(as_tuples(student.grad_of(f, x, y)), exact, "the result", **CLOSE)
    exact = 2 * x.double() ** 2, x.double() ** 2
    for requires_grad in (False, True):
        found = as_tuples(student.grad_of(probe.function("x**2 * y"), x.requires_grad_(requires_grad), x))
        assert_values(found, exact, "the result for a tensor that is given twice", **CLOSE)


@check("C1", category="dtype", share=2, try_this="grad_of(lambda x: x.sum(), torch.ones(2, dtype=torch.float64))[0]")
def check_like_x(student, probe, rng):
    """Each gradient has the shape and dtype of its tensor"""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        f, x, y, _ = cubes(probe, rng, dtype)
        for gradient in student.grad_of(f, x, y):
            assert_shape(gradient, x, "a gradient")
            assert_dtype(gradient, dtype, f"a gradient for {str(dtype).removeprefix('torch.')}")


@check("C2", category="dtype", share=2, try_this="grad_of(lambda x: (x * x).sum(), torch.tensor([1, 2]))")
def check_integers(student, probe, rng):
    """Takes integers as float32"""
    f = probe.function("5 * x**2 - x**4")
    for dtype in (torch.int64, torch.int16, torch.int8, torch.uint8):
        x = rng.whole(2, 9, 2, dtype=dtype) * (-1 if dtype.is_signed else 1)
        for (gradient,) in (student.grad_of(f, x), probe.beside_float64(student.grad_of, f, x)):
            assert_dtype(gradient, torch.float32, f"the gradient for {dtype}")
            assert_values(gradient, 10.0 * x - 4.0 * x.double() ** 3, f"the gradient for {dtype}", **CLOSE)


@check("C3", share=2, try_this="grad_of(lambda x, y: x.sum(), torch.ones(2), torch.ones(3))")
def check_unused(student, probe, rng):
    """The gradient of a tensor that f does not use"""
    assert_values(of_unused(student, probe, rng), torch.zeros(2, 3), "the gradient of a tensor that is not used")


@check("C3", category="dtype", share=1, try_this="grad_of(lambda x, y: x.sum(), torch.ones(2), torch.ones(3).double())")
def check_unused_float64(student, probe, rng):
    """The dtype of the gradient of a tensor that f does not use"""
    for dtype, expected in ((torch.float64, torch.float64), (torch.int64, torch.float32)):
        assert_dtype(of_unused(student, probe, rng, dtype), expected, f"the gradient for {dtype} that is not used")


@check("C5", category="memory", share=3, try_this="x = torch.ones(2); grad_of(torch.sum, x); print(x.requires_grad)")
def check_kept(student, probe, rng):
    """Leaves the caller's tensors as they were, and a second call gives the same"""
    *args, _ = cubes(probe, rng)
    first = assert_does_not_mutate(student.grad_of, *args, what="a tensor of xs")
    assert_values(as_tuples(student.grad_of(*args)), as_tuples(first), "the result of a second call", **CLOSE)
    assert_does_not_mutate(student.steeper, probe.function("8 * x**2 - x**4"), rng.normal(4), what="x")


@check("C6", category="gradient", share=1, try_this="grad_of(lambda x: (x**3).sum(), torch.ones(2))[0].requires_grad")
def check_no_history(student, probe, rng):
    """Gradients have no history"""
    for gradient in student.grad_of(*cubes(probe, rng)[:3]):
        assert_true(not facts(gradient).requires_grad, "a gradient has a history of its own")


@check("C7", share=2, try_this="steeper(lambda x: (x**2).sum(), torch.tensor([-1.0, 0.0, 1.0]))")
def check_steeper(student, probe, rng):
    """Words for random entries"""
    # The gradient of 8 x² - x⁴ is 4 x (4 - x²): it is 0 at 0, 2 and -2, and next to nothing beside 0.
    x = torch.cat([torch.tensor([-2.0, 0.0, 2.0, 1e-10, -1e-10]), 1.9 * rng.uniform(3), -2.1 - rng.uniform(2)])
    slopes = x.double() * (4 - x.double() ** 2)
    expected = ["up" if slope > 0 else "down" if slope < 0 else "flat" for slope in slopes.tolist()]
    assert_values(student.steeper(probe.function("8 * x**2 - x**4"), x), expected, "the list")
