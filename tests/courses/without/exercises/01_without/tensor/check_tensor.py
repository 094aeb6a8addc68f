import torch

from grader.check import check, same_values


@check("C1", share=1)
def check_small(student):
    """The sum of three numbers"""
    same_values(student.total(torch.tensor([1.0, 2.0, 4.0])), torch.tensor(7.0))
