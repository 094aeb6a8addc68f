import torch

from grader.check import assert_parameters, assert_shape, check


@check("C1")
def check_parameters(student):
    """One parameter, a row for each id"""
    assert_parameters(student.Embedding(7, 3), {"weight": (7, 3)})


@check("C2")
def check_shape(student):
    """A row of three numbers for each of two ids"""
    assert_shape(student.Embedding(7, 3)(torch.tensor([6, 0])), (2, 3))
