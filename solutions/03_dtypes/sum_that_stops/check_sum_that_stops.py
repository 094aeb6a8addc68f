import math

import numpy as np
import torch

from grader.check import (
    agrees,
    check,
    is_tensor,
    keeps_arguments,
    keeps_graph,
    no_loop,
    number,
    require,
    same_dtype,
    same_shape,
    same_values,
)

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
TWICE = "x = torch.tensor([1e8, 3.0, -1e8] * 50); accurate_sum(x), x.double().sum()"


def name(dtype):
    """A dtype as in the rules."""
    return str(dtype).removeprefix("torch.")


def exact(x):
    """The sum by plain Python."""
    return math.fsum(x.double().flatten().tolist())


def adds_up(student, x, what):
    """The sum is right, in any shape and dtype."""
    asked = torch.tensor(exact(x), dtype=torch.float64).to(x.dtype)
    total = student.accurate_sum(x.clone())  # whether x itself stays is for a rule of its own
    is_tensor(total, what)
    same_values(total.reshape(()) if total.numel() == 1 else total, asked, what)


def cancelling(rng, size):
    """Scores of which the large ones cancel, mixed."""
    large = (1e8 * rng.uniform(size // 2 - 9)).round()
    small = torch.randint(-9, 9, (size - 2 * len(large),), generator=rng).float()
    mixed = torch.cat([large, -large, small])
    return mixed[torch.randperm(len(mixed), generator=rng)]


def cancelling_halves(rng, most):
    """Scores of two bytes: large ones that cancel in turn, and small ones between them, which float32 rounds."""
    for dtype, large in ((torch.float16, 2.0**15), (torch.bfloat16, 2.0**30)):
        scores = [large, (2 * most + 1) / 1024]  # odd, so that the sum of many is in neither dtype
        for turn in range(29):
            small = rng.whole(1, most, rng.integer(1, 4)) / 512
            scores += [*small.tolist(), -large if turn % 2 == 0 else large]
        yield torch.tensor(scores, dtype=torch.float64).to(dtype)


def one_by_one(x):
    """The loop, by NumPy."""
    numbers = x.numpy().flatten()
    return float(np.add.accumulate(numbers, dtype=numbers.dtype)[-1])


@check("C1", share=3, try_this=TWICE)
def check_cancels_at_random(student, rng):
    """Large scores that cancel, small ones that stay"""
    for _ in range(5):
        adds_up(student, cancelling(rng, rng.integer(700, 1100)), "the sum of large and small scores")


@check("C1", share=1, try_this="accurate_sum(torch.tensor([60000.0, 60000.0, -60000.0]).half())")
def check_every_dtype(student, rng):
    """Sums of every dtype, and totals too large on the way"""
    for dtype in DTYPES:
        adds_up(student, rng.uniform(rng.integer(3000, 4000)).to(dtype), f"the sum of {name(dtype)} scores")
    large = float(rng.integer(40_000, 60_000))
    up_and_down = torch.tensor([large, large, large, -large, -large]).half()
    adds_up(student, up_and_down, "the sum of float16 scores, where a total on the way is too large")


@check("C1", share=1, try_this="accurate_sum(torch.tensor([32768.0, 0.001, -32768.0] * 9).half())")
def check_cancels_in_halves(student, rng):
    """Large float16 and bfloat16 scores that cancel, small ones that stay"""
    for x in cancelling_halves(rng, 4):
        adds_up(student, x, f"the sum of large and small {name(x.dtype)} scores")


@check("C2", category="dtype", share=1, try_this="accurate_sum(torch.ones(3, dtype=torch.bfloat16)).dtype")
def check_dtype(student, rng):
    """Keeps every dtype"""
    for dtype in DTYPES:
        total = student.accurate_sum(rng.uniform(6).to(dtype))
        is_tensor(total)
        same_dtype(total, dtype, f"the result for {name(dtype)}")


@check("C2", category="shape", share=1, try_this="accurate_sum(torch.ones(1)), accurate_sum(torch.empty(0))")
def check_zero_dim(student, rng):
    """Returns 0 dims, also for one score and none"""
    for size, case in ((12, "many scores"), (1, "one score"), (0, "no scores")):
        total = student.accurate_sum(rng.uniform(size))
        is_tensor(total, f"the result for {case}")
        same_shape(total, (), f"the result for {case}")
    same_values(total, 0.0, "the result for no scores")


@check("C3", category="performance", share=2, try_this="look for a line that runs once for each score")
def check_no_loop_at_scale(student, rng):
    """No loop over long inputs"""
    for few, many in ((12, 3_000), (12, 30_000)):
        no_loop(student.accurate_sum, (rng.normal(few),), (rng.normal(many),))
    keeps_graph(student.accurate_sum, rng.normal(20))


@check("C4", share=3, try_this="loop_error(torch.rand(3000)), loop_error(torch.rand(3000).half())")
def check_error_at_random(student, rng):
    """How far the loop is off, for random scores"""
    for dtype in (torch.float16, torch.float32):
        size = rng.integer(2100, 2800)
        for x in (rng.uniform(size).to(dtype), -rng.uniform(size).to(dtype)):
            asked = abs(one_by_one(x) - exact(x))
            error = student.loop_error(x)
            same_values(number(error), asked, f"the error for {name(dtype)}", rtol=1e-6, atol=1e-9)


@check("C4", share=1, try_this="loop_error(torch.tensor([32768.0, 0.001, -32768.0] * 9).half())")
def check_error_of_cancelling(student, rng):
    """How far the loop is off where large scores cancel"""
    for x in cancelling_halves(rng, 127):
        total = x.new_zeros(())
        for score in x:
            total = total + score
        asked = abs(float(total) - exact(x))
        same_values(
            number(student.loop_error(x)), asked, f"the error for large {name(x.dtype)} scores", rtol=1e-6, atol=1e-9
        )


@check("C5", share=1, try_this="accurate_sum(torch.rand(3, 4).T), loop_error(torch.rand(3, 4).T)")
def check_any_shape(student, rng):
    """Takes any shape and strides"""
    x = rng.uniform(8, 5, 6)
    for t in (x, x[0, 1:4], x.transpose(0, 2), x[::2, 1], x[:1].expand(4, 5, 6), x[0, 0, 0]):
        flat = torch.tensor(t.flatten().tolist())
        total, asked = student.accurate_sum(t), student.accurate_sum(flat)
        text = "the sum is another one than for the same scores in one row"
        require(agrees(number(total), number(asked), rtol=1e-5, atol=1e-5), text)
        error, asked = student.loop_error(t), student.loop_error(flat)
        text = "the error is another one than for the same scores in one row"
        require(agrees(number(error), number(asked), rtol=1e-6, atol=1e-9), text)


@check("C6", category="memory", share=1, try_this="x = torch.rand(3); accurate_sum(x); print(x)")
def check_kept(student, rng):
    """Leaves x as it was"""
    for dtype in (torch.float32, torch.float64):  # a float64 x is its own conversion to float64
        keeps_arguments(student.accurate_sum, rng.normal(20, dtype=dtype), what="x")
        keeps_arguments(student.loop_error, rng.normal(20, dtype=dtype), what="x", requiring=False)
