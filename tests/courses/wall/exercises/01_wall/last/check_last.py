import torch

from grader.check import assert_close, check


@check("C1", share=1)
def check_negates(student):
    """Negates three numbers"""
    assert_close(student.negate(torch.tensor([1.0, -2.0, 3.0])), torch.tensor([-1.0, 2.0, -3.0]))
