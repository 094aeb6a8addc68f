import math

import torch

from grader.check import (
    as_number,
    assert_does_not_mutate,
    assert_no_loop,
    assert_preserves_dtype,
    assert_shape,
    assert_tensor,
    assert_values,
    check,
)


def exact(x):
    """The sum by plain Python."""
    return math.fsum(x.double().flatten().tolist())


def adds_up(student, x):
    """The sum is right, in any shape and dtype."""
    expected = torch.tensor(exact(x), dtype=torch.float64).to(x.dtype)
    total = student.accurate_sum(x.clone())  # whether x itself stays is for a rule of its own
    assert_tensor(total)
    close = {"rtol": 1e-12, "atol": 1e-12} if x.dtype == torch.float64 else {}  # float32 on the way rounds by 3e-8
    assert_values(as_number(total), expected, f"the sum of {x.dtype} scores", **close)


def halves(rng, most):
    """Scores of two bytes: large ones that cancel in turn, and small ones between them, which float32 rounds."""
    for dtype, large in ((torch.float16, 2.0**15), (torch.bfloat16, 2.0**30)):
        scores = [large, (2 * most + 1) / 1024]  # odd, so that the sum of many is in neither dtype
        for turn in range(29):
            small = rng.whole(1, most, rng.integer(1, 4)) / 512
            scores += [*small.tolist(), -large if turn % 2 == 0 else large]
        yield torch.tensor(scores, dtype=torch.float64).to(dtype)


@check("C1", share=3, try_this="x = torch.tensor([1e8, 3.0, -1e8] * 50); accurate_sum(x), x.double().sum()")
def check_cancels_at_random(student, rng):
    """Large scores that cancel, small ones that stay"""
    for _ in range(5):
        large, small = (1e8 * rng.uniform(400)).round(), rng.whole(-9, 9, 20, dtype=torch.float32)
        adds_up(student, torch.cat([large, -large, small])[rng.permutation(820)])


@check("C1", share=2, try_this="accurate_sum(torch.tensor([60000.0, 60000.0, -60000.0, 0.001, -60000.0]).half())")
def check_every_dtype(student, rng):
    """Sums of every dtype, totals too large on the way, large scores of two bytes that cancel"""
    up = [float(rng.integer(40_000, 60_000))] * 3
    scores = rng.uniform(rng.integer(3000, 4000))
    some = (scores, scores.half(), scores.bfloat16(), scores.double())
    for x in (*some, torch.tensor([*up, -up[0], -up[0]]).half(), *halves(rng, 4)):
        adds_up(student, x)


@check("C2", category="dtype", share=1, try_this="accurate_sum(torch.ones(3, dtype=torch.bfloat16)).dtype")
def check_dtype(student, rng):
    """Keeps every dtype"""
    assert_preserves_dtype(student.accurate_sum, rng.uniform(6))


@check("C2", category="shape", share=1, try_this="accurate_sum(torch.ones(1)), accurate_sum(torch.empty(0))")
def check_zero_dim(student, rng):
    """Returns 0 dims, also for one score and none"""
    for size, case in ((12, "many scores"), (1, "one score"), (0, "no scores")):
        total = student.accurate_sum(rng.uniform(size))
        assert_tensor(total, f"the result for {case}")
        assert_shape(total, (), f"the result for {case}")
    assert_values(total, 0.0, "the result for no scores")


@check("C3", category="performance", share=2, try_this="look for a line that runs once for each score")
def check_no_loop_at_scale(student, rng):
    """No loop over long inputs"""
    assert_no_loop(student.accurate_sum, (rng.normal(12),), (rng.normal(30_000),))


@check("C4", share=4, try_this="loop_error(torch.rand(3000)), loop_error(torch.rand(3000).half())")
def check_error_at_random(student, rng):
    """How far the loop is off, for random scores and where large scores cancel"""
    scores = rng.uniform(rng.integer(2100, 2800))
    for x in (scores, -scores, scores.half(), -scores.half(), *halves(rng, 127)):
        total = x.new_zeros(())
        for score in x:
            total = total + score
        off = abs(float(total) - exact(x))
        # Sums of these scores are exact in float64, in any order, and a difference in float32 is off by up to 3e-8.
        assert_values(as_number(student.loop_error(x)), off, f"the error for {x.dtype}", rtol=1e-10, atol=1e-11)


@check("C5", share=1, try_this="accurate_sum(torch.rand(3, 4).T), loop_error(torch.rand(3, 4).T)")
def check_any_shape(student, rng):
    """Takes any shape and strides"""
    x = rng.uniform(8, 5, 6)
    for t in (x, x[0, 1:4], x.transpose(0, 2), x[::2, 1], x[:1].expand(4, 5, 6), x[0, 0, 0]):
        flat = torch.tensor(t.flatten().tolist())
        for function in (student.accurate_sum, student.loop_error):
            found, in_a_row = as_number(function(t)), as_number(function(flat))
            assert_values(
                found, in_a_row, "the result, beside that of the same scores in one row,", rtol=1e-6, atol=1e-9
            )


@check("C6", category="memory", share=1, try_this="x = torch.rand(3); accurate_sum(x); print(x)")
def check_kept(student, rng):
    """Leaves x as it was"""
    for x in (rng.normal(20), rng.normal(20, dtype=torch.float64)):  # a float64 x is its own conversion to float64
        assert_does_not_mutate(student.accurate_sum, x, what="x")
        assert_does_not_mutate(student.loop_error, x, what="x", requiring=False)
