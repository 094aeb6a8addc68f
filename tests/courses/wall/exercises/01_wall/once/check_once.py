import torch

from grader.check import assert_close, check


@check("C1", share=2)
def check_more(student):
    """One more than three numbers"""
    assert_close(student.more(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([2.0, 3.0, 4.0]))


@check("C2", share=1)
def check_less(student):
    """One less than three numbers"""
    assert_close(student.less(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([0.0, 1.0, 2.0]))
