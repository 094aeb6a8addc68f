import torch

from grader.check import assert_values, check


@check("C1")
def check_small(student):
    """Two rows of three"""
    values = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert_values(student.sequence_mask(values, torch.tensor([1, 3])), torch.tensor([[1, 0, 0], [4, 5, 6]]))
