import torch

from grader.check import assert_costs_at_most, assert_shape, assert_tensor, assert_values, check


@check("C1", share=1)
def check_larger_of_two(student):
    """Keeps the larger of two singular values"""
    result = student.compressed(torch.tensor([[0.0, 0.0, 3.0], [1.0, 0.0, 0.0]]), 1)
    assert_tensor(result)
    assert_values(result, torch.tensor([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]), atol=1e-5)


@check("C2", category="memory", share=1)
def check_thin(student):
    """Compresses a tall matrix without a square one"""
    assert_costs_at_most(student.compressed, (torch.arange(4000.0).sin().view(1000, 4), 2), bytes=8 * 4 * 4000)


@check("C3", share=1)
def check_rotation(student):
    """The spectral radius of a rotation, times 2"""
    assert_values(student.spectral_radius(torch.tensor([[0.0, -2.0], [2.0, 0.0]])), torch.tensor(2.0))


@check("C4", share=1)
def check_two_variances(student):
    """The variances of four points"""
    X = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    result = student.variances(X)
    assert_tensor(result)
    assert_values(result, torch.tensor([6.0, 2 / 3]))


@check("C5", share=1)
def check_one_normal(student):
    """The normal of a triangle on the floor"""
    result = student.normals(torch.tensor([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]]))
    assert_tensor(result)
    assert_shape(result, (1, 3))
    assert_values(result, torch.tensor([[0.0, 0.0, 1.0]]))
