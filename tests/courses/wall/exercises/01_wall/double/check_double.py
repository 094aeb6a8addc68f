import torch

from grader.check import assert_close, check


@check("C1", share=2)
def check_small(student):
    """Doubles three numbers"""
    assert_close(student.double(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([2.0, 4.0, 6.0]))


@check("C3", share=2)
def check_halves(student):
    """Halves three numbers"""
    assert_close(student.halve(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([0.5, 1.0, 1.5]))
