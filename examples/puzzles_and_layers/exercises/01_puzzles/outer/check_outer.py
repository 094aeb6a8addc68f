import torch

from grader.check import check, does_not_call, same


@check("C1")
def check_small(student):
    """Two numbers and three"""
    same(student.outer(torch.tensor([1, 2]), torch.tensor([3, 4, 5])), torch.tensor([[3, 4, 5], [6, 8, 10]]))


@check("C3")
def check_by_hand(student):
    """Without `torch.outer` and `einsum`"""
    does_not_call(student.outer, torch.outer, torch.einsum)
