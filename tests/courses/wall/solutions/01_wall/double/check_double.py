import torch

from grader.check import assert_close, assert_dtype, assert_unchanged, assert_values, check

SECRET = "CANARY_CHECK"


@check("C1", share=3, try_this="double(torch.ones(2, 2))")
def check_random(student, reference, rng):
    """Doubles random matrices and leaves them alone"""
    CANARY_CHECK = rng.normal(rng.integer(2, 5), 3)
    with assert_unchanged(CANARY_CHECK):
        y = student.double(CANARY_CHECK)
    assert_values(y, reference.double(CANARY_CHECK))


@check("C2", category="dtype", try_this="double(torch.tensor([1]))")
def check_dtype(student):
    """Keeps integers integers"""
    y = student.double(torch.tensor([918273645]))
    assert_dtype(y, torch.int64)
    assert_values(y, torch.tensor([1836547290]))


@check("C3", share=2, try_this="halve(torch.ones(2, 2))")
def check_halves_random(student, reference, rng):
    """Halves random matrices"""
    x = rng.normal(rng.integer(2, 5), 3)
    assert_close(student.halve(x), reference.halve(x))
