import torch

from grader.check import assert_in_place, assert_values, check


@check("C1", share=2)
def check_small(student):
    """Doubles three numbers"""
    assert_values(student.double(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([2.0, 4.0, 6.0]))


@check("C3", category="memory")
def check_in_place(student):
    """Doubles in place"""
    x = torch.tensor([1.0, -1.0])
    assert_in_place(student.double_(x), x)
    assert x.tolist() == [2.0, -2.0]
