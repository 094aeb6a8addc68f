import torch

from grader.check import assert_no_loop, assert_shape, assert_tensor, assert_values, check

TWO = torch.tensor([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]]])  # the matrices of two cameras


def has_numbers(yours, asked, what):
    """The result is a tensor of this shape with these numbers; its dtype is another rule."""
    assert_tensor(yours, what)
    assert_shape(yours, asked, what)
    assert_values(yours, asked, what)


@check("C1", share=1)
def check_example(student):
    """Solves a system for each of two cameras"""
    x = student.solve_each(TWO, torch.tensor([[2.0, 4.0], [5.0, 1.0]]))
    has_numbers(x, torch.tensor([[1.0, 1.0], [4.0, 1.0]]), "x")


@check("C2", share=1)
def check_common_example(student):
    """Solves for three readings that two cameras have in common"""
    X = student.solve_common(TWO, torch.tensor([[2.0, 4.0, 0.0], [4.0, 8.0, -4.0]]))
    asked = torch.tensor([[[1.0, 2.0, 0.0], [1.0, 2.0, -1.0]], [[-2.0, -4.0, 4.0], [4.0, 8.0, -4.0]]])
    has_numbers(X, asked, "X")


@check("C4", category="performance", share=1)
def check_few_and_many(student):
    """As many operations for 60 cameras as for 4"""
    few, many = torch.eye(3).repeat(4, 1, 1), torch.eye(3).repeat(60, 1, 1)
    assert_no_loop(student.solve_each, (few, torch.ones(4, 3)), (many, torch.ones(60, 3)))
