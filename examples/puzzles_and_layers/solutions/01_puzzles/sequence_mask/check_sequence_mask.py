import torch

from grader.check import assert_dtype, assert_no_loop, assert_unchanged, assert_values, check


@check("C1", share=3, try_this="sequence_mask(torch.ones(3, 4), torch.tensor([0, 2, 4]))")
def check_random(student, reference, rng):
    """Random tables, with an empty row and a full one"""
    width = rng.integer(5, 8)
    values, lengths = rng.normal(3, width), torch.tensor([0, rng.integer(1, width - 1), width])
    assert_values(student.sequence_mask(values, lengths), reference.sequence_mask(values, lengths))


@check("C2", category="dtype", share=1, try_this="sequence_mask(torch.ones(2, 3).half(), torch.tensor([1, 2])).dtype")
def check_dtype(student):
    """Keeps the dtype"""
    for dtype in (torch.float16, torch.int32):
        assert_dtype(student.sequence_mask(torch.ones(2, 3, dtype=dtype), torch.tensor([1, 2])), dtype)


@check("C2", category="memory", share=1, try_this="x = torch.ones(1, 2); sequence_mask(x, torch.tensor([1])); print(x)")
def check_kept(student, rng):
    """Leaves values as they were"""
    values = rng.normal(2, 5)
    with assert_unchanged(values, what="values"):
        student.sequence_mask(values, torch.tensor([2, 3]))


@check("C3", category="performance", share=2, try_this="look for a `for` in your function")
def check_no_loop(student, rng):
    """No loop over rows"""
    small, large = rng.normal(3, 4), rng.normal(80, 100)
    assert_no_loop(
        student.sequence_mask, (small, torch.tensor([1, 2, 3])), (large, torch.arange(80)),
    )
