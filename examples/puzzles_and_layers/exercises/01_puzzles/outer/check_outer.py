import torch

from grader.check import assert_close, assert_does_not_use, check


@check("C1")
def check_small(student):
    """Two numbers and three"""
    assert_close(student.outer(torch.tensor([1, 2]), torch.tensor([3, 4, 5])), torch.tensor([[3, 4, 5], [6, 8, 10]]))


@check("C3")
def check_by_hand(student):
    """Without `torch.outer` and `einsum`"""
    assert_does_not_use(student.outer, torch.outer, torch.einsum)
