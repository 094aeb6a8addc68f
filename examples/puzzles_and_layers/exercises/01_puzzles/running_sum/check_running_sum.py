import torch

from grader.check import assert_values, check


@check("C1")
def check_small(student):
    """Four numbers"""
    assert_values(student.running_sum(torch.tensor([1.0, 2.0, 4.0, 8.0])), torch.tensor([1.0, 3.0, 7.0, 15.0]))
