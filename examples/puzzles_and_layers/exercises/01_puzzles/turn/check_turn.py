import torch

from grader.check import check, same


@check("C1")
def check_small(student):
    """Four numbers"""
    same(student.turn(torch.tensor([1, 2, 3, 4])), torch.tensor([4, 1, 2, 3]))
