import torch

from grader.check import check, same


@check("C1")
def check_small(student):
    """Two numbers and three"""
    same(student.outer(torch.tensor([1, 2]), torch.tensor([3, 4, 5])), torch.tensor([[3, 4, 5], [6, 8, 10]]))
