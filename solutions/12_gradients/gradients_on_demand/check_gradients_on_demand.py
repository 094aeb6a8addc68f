import torch

from grader.check import (
    agrees,
    check,
    facts,
    is_tensor,
    plain,
    require,
    same_dtype,
    same_shape,
    same_values,
    unchanged,
)

CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def cubes(rng, dtype=torch.float32):
    """Two tensors, the numbers of a function of them, and its gradients in float64."""
    rows, columns = rng.integers(2, 6, 2)
    x, y = 2 * rng.normal(rows, columns, dtype=dtype), rng.normal(rows, columns, dtype=dtype)
    a, b = rng.integer(1, 5) / 2, rng.integer(-9, -2) / 4
    exact_x, exact_y = x.double(), y.double()
    return [x, y], [a, b], (3 * a * exact_x**2 + b * exact_y, b * exact_x)


@check("C1", share=4, try_this="grad_of(lambda x, y: (x * y).sum(), torch.ones(2, 3), torch.ones(2, 3))")
def check_random(student, probe, rng):
    """The gradients of a random function of two matrices"""
    xs, numbers, asked = cubes(rng)
    found, _, _ = probe.gradients(student.grad_of, "cubes", numbers, xs)
    same_values(plain(found), asked, "the result", **CLOSE)


@check("C1", share=1, try_this="x = torch.ones(2); grad_of(lambda a, b: (a * a * b).sum(), x, x)")
def check_given_twice(student, probe, rng):
    """One tensor in two places"""
    (x, _), (a, b), _ = cubes(rng)
    asked = 3 * a * x.double() ** 2 + b * x.double(), b * x.double()
    for leaves in (False, True):
        found, _, _ = probe.gradients(student.grad_of, "cubes", [a, b], [x, x], leaves)
        same_values(plain(found), asked, "the result for a tensor that is given twice", **CLOSE)


@check("C1", category="dtype", share=2, try_this="grad_of(lambda x: x.sum(), torch.ones(2, dtype=torch.float64))[0]")
def check_like_x(student, probe, rng):
    """Each gradient has the shape and dtype of its tensor"""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        xs, numbers, _ = cubes(rng, dtype)
        found, _, _ = probe.gradients(student.grad_of, "cubes", numbers, xs)
        for gradient, x in zip(found, xs, strict=True):
            is_tensor(gradient, "a gradient")
            same_shape(gradient, x, "a gradient")
            same_dtype(gradient, dtype, f"a gradient for {str(dtype).removeprefix('torch.')}")


@check("C2", category="dtype", share=2, try_this="grad_of(lambda x: (x * x).sum(), torch.tensor([1, 2]))")
def check_integers(student, probe, rng):
    """Takes integers as float32"""
    x = torch.tensor([rng.integer(2, 9), rng.integer(-9, -2)])
    asked = 10.0 * x - 4.0 * x.double() ** 3
    for gradients in (probe.gradients, probe.beside_another_default):
        found, _, _ = gradients(student.grad_of, "wave", [5.0], [x])
        same_dtype(found[0], torch.float32, "the gradient for integers")
        same_values(found[0], asked, "the gradient for integers", **CLOSE)


@check("C3", share=2, try_this="grad_of(lambda x, y: x.sum(), torch.ones(2), torch.ones(3))")
def check_unused(student, probe, rng):
    """The gradient of a tensor that f does not use"""
    for unused in (rng.normal(2, 2), rng.normal(2, 3, dtype=torch.float64)):
        found, _, _ = probe.gradients(student.grad_of, "only the first", [1.5], [rng.normal(3), unused])
        require(isinstance(found, (tuple, list)) and len(found) == 2, "there is not one gradient for each tensor")
        same_values(found[1], torch.zeros(unused.shape), "the gradient of a tensor that is not used")


@check("C3", category="dtype", share=1, try_this="grad_of(lambda x, y: x.sum(), torch.ones(2), torch.ones(3).double())")
def check_unused_float64(student, probe, rng):
    """The gradient of a float64 tensor that f does not use"""
    xs = [rng.normal(3), rng.normal(2, dtype=torch.float64)]
    found, _, _ = probe.gradients(student.grad_of, "only the first", [1.5], xs)
    require(isinstance(found, (tuple, list)) and len(found) == 2, "there is not one gradient for each tensor")
    same_dtype(found[1], torch.float64, "the gradient of a float64 tensor that is not used")


@check("C5", category="memory", share=2, try_this="x = torch.ones(2); grad_of(torch.sum, x); print(x.requires_grad)")
def check_kept(student, probe, rng):
    """Leaves the caller's tensors as they were"""
    for leaves in (False, True):
        xs, numbers, _ = cubes(rng)
        _, _, kept = probe.gradients(student.grad_of, "cubes", numbers, xs, leaves)
        require(kept is True, "the caller's tensors have another `requires_grad` or `grad` than before")
    x = rng.normal(4)
    with unchanged(x, what="the x of steeper"):
        probe.words(student.steeper, "wave", [8.0], x)


@check("C5", category="gradient", share=1, try_this="call grad_of twice with the same tensors")
def check_twice(student, probe, rng):
    """A second call gives the same again"""
    xs, numbers, asked = cubes(rng)
    again = [x.clone() for x in xs]
    once, _, _ = probe.gradients(student.grad_of, "cubes", numbers, xs)
    if agrees(plain(once), asked, **CLOSE):  # a wrong gradient is for other checks
        twice, _, _ = probe.gradients(student.grad_of, "cubes", numbers, again, False, 2)
        same_values(plain(twice), asked, "the result of a second call", **CLOSE)


@check("C6", category="gradient", share=1, try_this="grad_of(lambda x: (x**3).sum(), torch.ones(2))[0].requires_grad")
def check_no_history(student, probe, rng):
    """Gradients have no history"""
    xs, numbers, _ = cubes(rng)
    found, _, _ = probe.gradients(student.grad_of, "cubes", numbers, xs)
    require(not any(facts(gradient).requires_grad for gradient in found), "a gradient has a history of its own")


@check("C7", share=2, try_this="steeper(lambda x: (x**2).sum(), torch.tensor([-1.0, 0.0, 1.0]))")
def check_steeper(student, probe, rng):
    """Words for random entries"""
    # The gradient of a x² - x⁴ is 2 x (a - 2 x²): with a = 8 it is 0 at 0, 2 and -2, and next to nothing beside 0.
    x = torch.tensor(
        [-2.0, 0.0, 2.0, 1e-10, -1e-10, *(1.9 * rng.uniform(3)).tolist(), *(-2.1 - rng.uniform(2)).tolist()]
    )
    slopes = 2 * x.double() * (8 - 2 * x.double() ** 2)
    asked = ["up" if slope > 0 else "down" if slope < 0 else "flat" for slope in slopes.tolist()]
    same_values(probe.words(student.steeper, "wave", [8.0], x), asked, "the list")
