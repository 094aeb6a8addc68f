import math

import torch

from grader.check import (
    allclose,
    as_number,
    assert_dtype,
    assert_no_hidden_code,
    assert_true,
    assert_values,
    check,
    run_on_ranks,
)

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
BYTES = 64


def shards(rng, *lengths, dtype=torch.float32):
    """The arguments of each rank, and the mean of all of them, in float64."""
    each = [[1 + 9 * rng.uniform(length, dtype=dtype)] for length in lengths]
    scores = [value for (shard,) in each for value in shard.double().tolist()]
    return each, math.fsum(scores) / len(scores)


def right_ranks(student, each, asked):
    """For each rank, whether it gets the mean."""
    return [allclose(rank.result, asked, **CLOSE) for rank in run_on_ranks(student.global_mean, each)]


@check("C1", share=4, try_this="the example of the docstring, on paper")
def check_random(student, rng):
    """The mean of random shards, on two and on three ranks"""
    for lengths in ((rng.integer(2, 5), rng.integer(20, 40)), (rng.integer(9, 15), 1, rng.integer(2, 6))):
        each, asked = shards(rng, *lengths)
        for rank in run_on_ranks(student.global_mean, each):
            assert_values(as_number(rank.result), asked, "the result on a rank", **CLOSE)
    each, _ = shards(rng, 3, 2)
    each[rng.integer(0, 1)][0][1] = math.nan
    for rank in run_on_ranks(student.global_mean, each):
        assert_values(as_number(rank.result), math.nan, "the result where a score is NaN")


@check("C2", share=4, try_this="torch.empty(0).mean(), and torch.empty(0).sum()")
def check_empty(student, rng):
    """A shard may be empty"""
    # How shards of other lengths are weighed, and whether each rank gets the mean, is for C1, not for this rule.
    weighs = right_ranks(student, *shards(rng, 2, rng.integer(5, 9), 3))
    gets = right_ranks(student, *shards(rng, 4, 4, 4))
    for lengths in ((0, rng.integer(3, 8)), (rng.integer(3, 8), rng.integer(3, 8), 0)):
        each, asked = shards(rng, *lengths)
        for rank, is_right, is_even in zip(run_on_ranks(student.global_mean, each), weighs, gets, strict=False):
            if is_even or not any(gets):
                assert_true(not allclose(rank.result, math.nan), "the result is NaN where a shard is empty")
            if is_right:
                assert_values(rank.result, asked, "the result where a shard is empty", **CLOSE)


@check("C3", category="dtype", share=2, try_this="global_mean(torch.ones(2, dtype=torch.float64)).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of the scores"""
    for dtype in (torch.float32, torch.float64):
        each, asked = shards(rng, 3, 3, dtype=dtype)
        for rank in run_on_ranks(student.global_mean, each):
            assert_dtype(rank.result, dtype, f"the result for {dtype}")
            # A value that is wrong is for C1.
            if dtype == torch.float64 and allclose(rank.result, asked, **CLOSE):
                text = f"the result for {dtype} was rounded by another dtype on the way"
                assert_true(allclose(rank.result, asked, rtol=1e-12, atol=0.0), text)


@check("C4", category="memory", share=2, try_this="global_mean(local), and then print(local)")
def check_kept(student, rng):
    """Leaves the shard as it was"""
    for rank in [rank for n in (5, 1) for rank in run_on_ranks(student.global_mean, shards(rng, n, n)[0])]:
        assert_true(not rank.changed, "local was changed; give collectives a tensor of your own, as they write into it")


@check("C5", category="performance", share=2, try_this="count what each rank hands to a collective, in bytes")
def check_scores_stay(student, rng):
    """Sums travel, scores stay"""
    assert_no_hidden_code(student.global_mean)  # only the worker knows what it hands over
    each, _ = shards(rng, 400, 400, dtype=torch.float64)
    for rank in run_on_ranks(student.global_mean, each):
        calls = rank.collectives.total()
        assert_true(calls <= 2, "a rank calls more than two collectives", f"a rank calls {calls} collectives")
        story = f"a rank hands {rank.sent} bytes to collectives, {BYTES} are allowed"
        assert_true(
            rank.sent <= BYTES, "a rank hands more than 64 bytes to collectives; the scores must not travel", story
        )
