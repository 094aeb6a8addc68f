import torch

from grader.check import check, same_values


@check("C1")
def check_two(student):
    """A table of two rows"""
    same_values(student.eye(2), torch.tensor([[1, 0], [0, 1]]))
