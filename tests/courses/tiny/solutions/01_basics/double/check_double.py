import torch

from grader.check import assert_dtype, assert_unchanged, assert_values, check


@check("C1", share=2, try_this="double(torch.ones(2, 2))")
def check_random(student, reference, rng):
    """Doubles random matrices and leaves them alone"""
    x = rng.normal(rng.integer(2, 5), 3)
    with assert_unchanged(x):
        y = student.double(x)
    assert_values(y, reference.double(x))


@check("C2", category="dtype", try_this="double(torch.tensor([1]))")
def check_dtype(student):
    """Keeps integers integers"""
    assert_dtype(student.double(torch.tensor([1, 2])), torch.int64)
