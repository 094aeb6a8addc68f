import torch

from grader.check import assert_close, check


@check("C1", share=2)
def check_small(student):
    """Sums three numbers"""
    assert_close(student.total(torch.tensor([1.0, 2.0, 4.0])), torch.tensor(7.0))


@check("C4", share=1)
def check_means(student):
    """Averages three numbers"""
    assert_close(student.mean(torch.tensor([1.0, 2.0, 6.0])), torch.tensor(3.0))
