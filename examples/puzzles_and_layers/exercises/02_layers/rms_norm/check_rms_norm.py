import torch

from grader.check import assert_values, check


@check("C2")
def check_small(student):
    """A row of two numbers"""
    asked = torch.tensor([[3.0, 4.0]]) / (12.5 + 1e-5) ** 0.5
    assert_values(student.RMSNorm(2)(torch.tensor([[3.0, 4.0]])), asked)
