import torch

from grader.check import assert_shape, assert_tensor, assert_values, check


def has_values(yours, expected):
    assert_tensor(yours)
    assert_shape(yours, expected)
    assert_values(yours, expected)


@check("C1", share=2)
def check_two_rows(student):
    """Counts even numbers in two rows of three"""
    has_values(student.evens(2, 3), torch.tensor([[0, 2, 4], [6, 8, 10]]))


@check("C2", share=1)
def check_five_points(student):
    """Makes five points from 0 to 1"""
    has_values(student.grid(0.0, 1.0, 5), torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0]))


@check("C3", share=1)
def check_five_rates(student):
    """Makes five powers of ten"""
    has_values(student.ladder(-3, 1), torch.tensor([0.001, 0.01, 0.1, 1.0, 10.0]))


@check("C4", share=1)
def check_six_sevens(student):
    """Fills two rows of three"""
    has_values(student.filled(2, 3, 7), torch.tensor([[7, 7, 7], [7, 7, 7]]))


@check("C5", share=1)
def check_two_by_two(student):
    """Scales an identity of two rows"""
    has_values(student.scaled_identity(2, 3.0), torch.tensor([[3.0, 0.0], [0.0, 3.0]]))
