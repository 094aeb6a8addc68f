import torch

from grader.check import assert_close, assert_does_not_use, check


@check("C1", share=2, try_this="outer(torch.ones(2), torch.ones(3))")
def check_random(student, reference, rng):
    """Multiplies random numbers"""
    a, b = rng.normal(rng.integer(2, 4)), rng.normal(rng.integer(5, 8))
    assert_close(student.outer(a, b), reference.outer(a, b))


@check("C2", category="performance", share=1, try_this="read your file: is there an `outer` of PyTorch's in it?")
def check_not_its_own(student):
    """Does not ask PyTorch for it"""
    assert_does_not_use(student.outer, torch.outer, "einsum", "matmul")
