import math

import torch

from grader.check import (
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_isinstance,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
    facts,
)


def spoiled(rng, size, first):
    """Finite numbers up to an index, and from there on some that are not."""
    x = rng.normal(size)
    x[first] = (math.nan, math.inf, -math.inf)[rng.integer(0, 2)]
    x[first + 1 :: 3] = math.nan
    return x


@check("C1", share=2, try_this="loss_log([torch.tensor(2.0), torch.tensor(1.0)])")
def check_random(student, rng):
    """Random losses, in order"""
    numbers = rng.normal(rng.integer(20, 40))
    log = student.loss_log([number.clone() for number in numbers])
    assert_values(log, numbers.tolist(), "the list")
    assert_isinstance(log[0], float, "an entry of the list")


@check("C1", category="dtype", share=1, try_this="loss_log([torch.tensor(0.5, dtype=torch.bfloat16)] * 3)")
def check_every_dtype(student, rng):
    """Losses of every dtype, and one loss several times"""
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        losses = list(rng.normal(rng.integer(4, 9), dtype=torch.float64).to(dtype))
        losses = [losses[1], *losses, losses[1]]
        exact = [loss.item() for loss in losses]
        assert_values(student.loss_log(losses), exact, f"the list for {dtype}", rtol=1e-15, atol=0.0)


@check("C1", share=1, try_this="loss_log([])")
def check_empty_log(student):
    """An empty list"""
    assert_values(student.loss_log([]), [], "the result for an empty list")


@check("C2", category="device", share=4, device="sim", try_this="loss_log([loss] * 100), with a loss on the GPU")
def check_one_wait_for_many(student, accelerator, rng):
    """Waits once, for any number of losses"""
    for count in (rng.integer(30, 60), 1200):
        losses = [accelerator.put(number.clone()) for number in rng.normal(count)]
        assert_costs_at_most(student.loss_log, (losses,), syncs=1, transfers=1)


@check("C3", share=2, try_this="first_bad(torch.tensor([1.0, -torch.inf]))")
def check_random_place(student, rng):
    """Finds the first of several, wherever it is"""
    size = rng.integer(20, 40)
    for first in (0, rng.integer(1, size - 2), size - 1):
        found = student.first_bad(spoiled(rng, size, first))
        assert_isinstance(found, int, "the index")
        assert_values(found, first, "the index")
    for bad in (math.nan, math.inf, -math.inf):
        x = rng.normal(size)
        x[size // 2] = bad
        assert_values(student.first_bad(x), size // 2, "the index")
    for dtype, first in ((torch.bfloat16, 1_001), (torch.float16, 4_001)):  # numbers that they do not have
        assert_values(
            student.first_bad(spoiled(rng, 5_000, first).to(dtype)), first, f"the index in a long x of {dtype}"
        )


@check("C3", share=2, try_this="first_bad(torch.empty(0))")
def check_all_finite(student, rng):
    """-1 where all are finite"""
    large = ((torch.float16, 6e4), (torch.bfloat16, 3e38), (torch.float32, 3e38), (torch.float64, 1e300))
    largest = [torch.full((7,), number, dtype=dtype) for dtype, number in large]  # no sum, and no narrower dtype
    for x in (rng.normal(rng.integer(5, 30)), *largest, torch.empty(0)):
        assert_values(student.first_bad(x), -1, "the result where all are finite")


@check("C4", category="device", share=3, device="sim", try_this="first_bad(x) for x of 1,000 numbers on the GPU")
def check_few_waits(student, accelerator, rng):
    """x stays where it is"""
    size = rng.integer(300, 500)
    for x in (spoiled(rng, size, size - 3), rng.normal(size), torch.full((size,), math.nan)):
        assert_costs_at_most(student.first_bad, (accelerator.put(x),), syncs=2, transferred=64)


@check("C5", category="gradient", share=1, try_this="loss_log([torch.tensor(1.0, requires_grad=True)])")
def check_kept(student, rng):
    """Takes losses that require a gradient, and changes nothing"""
    losses = [number.clone().requires_grad_() for number in rng.normal(4)]
    with assert_unchanged(losses, what="the list of losses"):
        student.loss_log(losses)
    assert_true(all(facts(loss).requires_grad for loss in losses), "a loss does not require a gradient any more")
    assert_does_not_mutate(student.first_bad, spoiled(rng, 20, 7), what="x", requiring=False)
