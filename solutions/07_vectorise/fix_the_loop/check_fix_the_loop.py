import math

import torch

from grader.check import (
    agrees,
    as_fast_as,
    check,
    faster_than,
    keeps_graph,
    no_loop,
    require,
    same_dtype,
    same_values,
    unchanged,
)

MOST_OPERATIONS = 20
CLOSE = {"rtol": 1e-4, "atol": 1e-4}  # the loop itself, which adds one by one in float32, is right too
SUMMED = {"rtol": 1e-3, "atol": 1e-3}  # for sums of many numbers, in whatever order
LONG = "look for a line that runs more often for torch.randn(20_000) than for torch.randn(10)"
TIMER = "torch.utils.benchmark.Timer('energy_above(x, 0.0)', globals=globals())"


def exact(x, thr):
    """The energy by plain Python, in float64."""
    return math.fsum(value * value for value in x.double().flatten().tolist() if value > thr)


def adds_up(student, x, thr):
    """The energy is right. What is asked is worked out first: student code may write into x."""
    asked = exact(x, thr)
    same_values(student.energy_above(x, thr), asked, **CLOSE)


def inputs(rng):
    """Makes samples of a size, for the clock."""
    return lambda n: (rng.normal(n), 0.0)


@check("C1", share=2, try_this="energy_above(torch.tensor([-3.0, -1.0, 0.5, 2.0]), -2.0)")
def check_random(student, rng):
    """The energy of random samples"""
    for scale in (1.0, 30.0):
        x = scale * rng.normal(rng.integer(90, 150))
        thr = scale * (rng.integer(1, 9) / 10 - 0.5)
        adds_up(student, x, thr)


@check("C2", share=1, try_this="energy_above(torch.tensor([1.0, 2.0, 2.0, 3.0]), 2.0)")
def check_strict(student, rng):
    """Leaves out samples equal to the threshold"""
    x = torch.randint(0, 6, (40,), generator=rng).float()
    thr = float(rng.integer(1, 3))
    x[rng.integer(0, 39)] = thr
    adds_up(student, x, thr)


@check("C2", share=1, try_this="energy_above(torch.tensor([float('nan'), 2.0]), 1.0)")
def check_nan(student, rng):
    """Leaves out NaN"""
    x = rng.normal(30)
    x[rng.integer(0, 29)] = math.nan
    adds_up(student, x, 0.5)


@check("C3", share=1, try_this="energy_above(torch.tensor([1.0, 2.0]), 5.0)")
def check_none_above(student, rng):
    """Gives 0 where no sample is over the threshold"""
    same_values(student.energy_above(rng.uniform(rng.integer(5, 20)), 1.5), 0.0)
    same_values(student.energy_above(torch.empty(0), 0.0), 0.0, "the result for an empty tensor")


@check("C3", category="dtype", share=1, try_this="energy_above(torch.ones(3, dtype=torch.bfloat16), 2.0).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of x"""
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = rng.uniform(12).to(dtype)
        same_dtype(student.energy_above(x, 0.5), dtype, f"the result for {str(dtype).removeprefix('torch.')}")
    same_dtype(student.energy_above(x, 2.0), dtype, "the result where no sample is over the threshold")
    same_dtype(student.energy_above(x[:0], 0.5), dtype, "the result for an empty tensor")
    x = rng.uniform(40, dtype=torch.float64)
    asked = exact(x, 0.5)
    energy = student.energy_above(x, 0.5)
    if agrees(energy, asked, rtol=1e-4, atol=0.0):  # a wrong value is for other checks
        exact_enough = agrees(energy, asked, rtol=1e-12, atol=0.0)
        require(exact_enough, "the result for float64 is only as precise as a narrower dtype, such as float32")


@check("C4", category="performance", share=3, try_this=LONG)
def check_no_loop_at_scale(student, rng):
    """No loop over long inputs"""
    student.energy_above(rng.normal(10), 0.0)
    no_loop(student.energy_above, (rng.normal(30), 0.0), (rng.normal(300), 0.0))
    counts = no_loop(student.energy_above, (rng.normal(2_000), 0.0), (rng.normal(20_000), 0.0))
    story = f"one call runs {counts.total()} operations: {dict(counts.most_common(5))}"
    few = counts.total() <= MOST_OPERATIONS
    require(few, f"one call runs more than {MOST_OPERATIONS} operations; a handful will do", story)
    keeps_graph(student.energy_above, rng.normal(50), 0.0, degree=2)  # of squares, whichever of them are added


@check("C5", share=1, try_this="energy_above(torch.randn(4, 3).T, 0.0)")
def check_any_layout(student, rng):
    """Takes any shape and any strides"""
    rows, columns = rng.integers(3, 7, 2)
    x = rng.normal(rows, columns, 4)
    for case in (x, x.transpose(0, 2), x[:, ::2, 1:3], x[:1].expand(3, columns, 4), x[0, 0, 0].abs()):
        adds_up(student, case, 0.0)


@check("C6", category="memory", share=1, try_this="x = torch.ones(3); energy_above(x, 2.0); print(x)")
def check_input_kept(student, rng):
    """Leaves x as it was"""
    x = rng.normal(rng.integer(10, 30))
    with unchanged(x, what="x"):
        energy = student.energy_above(x, 0.25)
    require(energy is not None, "the result is None (is a `return` missing?)")


@check("C7", category="performance", share=2, try_this=f"{TIMER}.timeit(20)")
def check_speed(student, reference, rng):
    """Nearly as fast as our own answer"""
    # As fast is 1, a sort 7, a list of numbers 6.6 and more, the loop 1,000.
    as_fast_as(student.energy_above, reference.energy_above, inputs(rng), size=200_000, at_most=3.5, **SUMMED)


@check("C7", category="performance", share=1, try_this=f"{TIMER}.timeit(9), for both functions")
def check_faster_than_the_loop(student, reference, rng):
    """Much faster than the loop"""
    # With one mask it is about 1,000.
    faster_than(student.energy_above, reference.given, inputs(rng), size=10_000, at_least=100, **SUMMED)
