import torch

from grader.check import assert_close, check


@check("C1")
def check_small(student):
    """Four numbers"""
    assert_close(student.turn(torch.tensor([1, 2, 3, 4])), torch.tensor([4, 1, 2, 3]))
