import torch

from grader.check import assert_dtype, assert_no_loop, assert_true, assert_values, check, count_ops


@check("C1", share=3, try_this="tally(torch.tensor([1, 1, 3]), 6)")
def check_random(student, reference, rng):
    """Random numbers, none of them the largest"""
    n = rng.integer(5, 8)
    x = torch.tensor([0, 2, 2, *rng.integers(0, n - 2, 12)])
    assert_values(student.tally(x, n), reference.tally(x, n))


@check("C2", category="dtype", share=1, try_this="tally(torch.tensor([0, 1]), 2).dtype")
def check_dtype(student):
    """Whole numbers"""
    assert_dtype(student.tally(torch.tensor([0, 1, 1]), 3), torch.int64)


@check("C3", category="performance", share=2, try_this="look for a `for` or `bincount` in your function")
def check_no_loop(student):
    """Neither a loop nor bincount"""
    assert_no_loop(student.tally, (torch.tensor([0, 2, 1]), 3), (torch.arange(120), 120))
    called = count_ops(student.tally, torch.tensor([0, 1, 1]), 3)
    assert_true(not any("bincount" in name for name in called), "bincount is called")
