import torch

from grader.check import assert_uses_only, assert_values, check


@check("C1", share=1)
def check_small(student):
    """Multiplies each with each"""
    assert_values(
        student.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0, 7.0])), torch.tensor([[3.0, 5, 7], [6, 10, 14]])
    )


@check("C2", share=2, category="performance")
def check_rule(student):
    """Uses no more than is allowed"""
    assert_uses_only(student.outer, "arange", torch.where)
