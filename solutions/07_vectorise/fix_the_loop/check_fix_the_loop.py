import math

import torch

from grader.check import (
    allclose,
    as_number,
    assert_costs_at_most,
    assert_cpu_time_ratio,
    assert_does_not_mutate,
    assert_keeps_graph,
    assert_no_loop,
    assert_true,
    assert_unchanged,
    assert_values,
    assert_values_unless_wrong_elsewhere,
    check,
)

DTYPES = {torch.float64: 2.0**70, torch.float32: 1024.0, torch.float16: 1.0, torch.bfloat16: 1024.0}  # and large ones
CLOSE = {"rtol": 1e-4, "atol": 1e-4}  # the loop itself, which adds one by one in float32, is right too


def exact(x, thr):
    """The energy by plain Python, in float64; which samples count is for `x > thr`."""
    return math.fsum(value * value for value in x[x > thr].double().tolist())


def adds_up(student, *cases, **tolerance):
    """The energies are right; kind, shape and dtype are for checks of their own."""
    asked = [exact(*case) for case in cases]
    for case, right in zip(cases, asked, strict=True):
        assert_values(as_number(student.energy_above(*case)), right, "the energy", **(tolerance or CLOSE))


def ignores(student, x, thr, places):
    """Some entries do not count. What is wrong without them as well is for C1."""
    asked, rest, more = exact(x, thr), x[~places], x.masked_fill(places, 9.0)
    yours, same, other = (lambda case=case: as_number(student.energy_above(case, thr)) for case in (x, rest, more))
    assert_values_unless_wrong_elsewhere(yours(), asked, same, other, "the energy", **CLOSE)


@check("C1", share=2, try_this="energy_above(torch.tensor([-3.0, -1.0, 0.5, 2.0]), -2.0)")
def check_random(student, rng):
    """The energy of random samples"""
    for scale in (1.0, -1.0, 30.0, -30.0):
        x, thr = scale * rng.normal(rng.integer(90, 150)), scale * rng.integer(1, 5) / 10
        infinite = torch.cat([torch.tensor([-math.inf, scale * math.inf]), x[2:]])
        adds_up(student, (x, thr), (infinite, thr))


@check("C1", share=1, try_this="energy_above(torch.randn(4, 3).T, 0.0)")
def check_any_layout(student, rng):
    """Takes any shape and any strides"""
    x = rng.normal(*rng.integers(3, 7, 2), 4)
    cases = [x, x.transpose(0, 2), x[:, ::2, 1:3], x[:1].expand(3, -1, 4), x[0, 0, 0].abs(), x[0, :1, None]]
    cases += [rng.uniform(1), rng.normal(2, 1, 3, 1, 2), -rng.uniform(), torch.empty(0, 3), torch.empty(3, 0)]
    adds_up(student, *((case, 0.0) for case in cases))


@check("C1", share=1, try_this="energy_above(torch.tensor([0.1, 1.0]), 0.1)")
def check_nearest(student, rng):
    """Lets `x > thr` decide about the number that is nearest to thr"""
    for dtype in (torch.float16, torch.float32):
        thr = rng.choice([0.1, 0.2, 0.3, 0.4])  # float32 rounds each of them up, float16 three of them down
        x = torch.cat([torch.full((9,), thr), rng.normal(9)]).to(dtype)
        ignores(student, x, thr, ~(x > thr))


@check("C2", share=2, try_this="energy_above(torch.tensor([float('nan'), 2.0, 3.0]), 2.0)")
def check_left_out(student, rng):
    """Leaves out NaN, and samples equal to the threshold"""
    x, thr = rng.whole(0, 3, 60, dtype=torch.float32), float(rng.integer(1, 2))
    ignores(student, x, thr, x == thr)
    x[rng.integer(0, 59)] = math.nan
    for thr in (-0.5, 0.5):
        ignores(student, x, thr, x.isnan())


@check("C3", category="dtype", share=1, try_this="energy_above(torch.tensor([1 / 3]), -1e6) * 9")
def check_precise(student):
    """Is as precise as the dtype of x"""
    for dtype, large in DTYPES.items():
        eps = torch.finfo(dtype).eps
        samples = [torch.tensor([large * (1 + steps * eps)], dtype=dtype) for steps in (2, 3)]
        cases = [(x, thr) for x in samples for thr in (0.0, -2048.0 * large)]
        # The square of one sample is right to half an eps. A narrower dtype takes away four at least.
        adds_up(student, *cases, rtol=2.5 * eps, atol=0.0)
    equal_in_float32 = torch.tensor([0.1 + 1e-12], dtype=torch.float64), 0.1
    adds_up(student, equal_in_float32, rtol=1e-9, atol=0.0)


@check("C4", category="performance", share=3, try_this="which line runs more often for a larger x?")
def check_no_loop_at_scale(student, rng):
    """No loop over large inputs"""
    shapes = ((30,), (300,)), ((30,), (200_000,)), ((6, 5), (70, 60)), ((4, 3, 3), (30, 25, 20)), ((3,) * 4, (12,) * 4)
    for small, large in shapes:
        assert_no_loop(student.energy_above, (rng.normal(*small), 0.0), (rng.normal(*large), 0.0))
    counts = assert_costs_at_most(student.energy_above, (rng.normal(200_000), 0.0), ops=20)
    assert_true(not counts.escapes["tolist"], "the numbers go into a list, and Python loops over them")


@check("C5", category="gradient", share=1, try_this="energy_above(torch.ones(5, requires_grad=True), 0.0).grad_fn")
def check_gradient(student, rng):
    """Has the gradient of what was computed"""
    x = rng.normal(50)
    right = allclose(as_number(student.energy_above(x.clone(), 0.0)), exact(x, 0.0), **CLOSE)  # else it is for C1
    assert_keeps_graph(student.energy_above, x, 0.0, degree=2 if right else None)


@check("C6", category="memory", share=1, try_this="x = torch.ones(3); energy_above(x, 2.0); print(x)")
def check_input_kept(student, rng):
    """Leaves x as it was"""
    x = torch.cat([rng.normal(rng.integer(10, 30)), torch.tensor([2.0])])  # an x with nothing above is for C3
    for special in (0.25, math.nan, math.inf, -math.inf):
        x[4] = special
        assert_does_not_mutate(student.energy_above, x, 0.25, what="x")
    one_for_all = (0.3 + rng.uniform(1)).expand(9)  # PyTorch writes to no such tensor, counted or not
    with assert_unchanged(one_for_all, what="x"):
        student.energy_above(one_for_all, 0.25)


@check("C7", category="performance", share=1, try_this="torch.utils.benchmark.Timer('energy_above(x, 0.5)', ...)")
def check_speed(student, reference, rng):
    """Nearly as fast as our own answer"""
    ours = reference.energy_above  # takes 1, a list of numbers 4.6 and more, a sort 8, the loop 200
    assert_cpu_time_ratio(
        student.energy_above, ours, lambda n: (rng.uniform(n), 0.5), size=200_000, at_most=4, rtol=1e-3
    )
