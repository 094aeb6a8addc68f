import torch

from grader.check import check, is_tensor, same_shape, same_values, uses_at_most


@check("C1", share=1)
def check_larger_of_two(student):
    """Keeps the larger of two singular values"""
    result = student.compressed(torch.tensor([[0.0, 0.0, 3.0], [1.0, 0.0, 0.0]]), 1)
    is_tensor(result)
    same_values(result, torch.tensor([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]), atol=1e-5)


@check("C2", category="memory", share=1)
def check_thin(student):
    """Compresses a tall matrix without a square one"""
    uses_at_most(student.compressed, (torch.arange(4000.0).sin().view(1000, 4), 2), bytes=8 * 4 * 4000)


@check("C3", share=1)
def check_rotation(student):
    """The spectral radius of a rotation, times 2"""
    same_values(student.spectral_radius(torch.tensor([[0.0, -2.0], [2.0, 0.0]])), torch.tensor(2.0))


@check("C4", share=1)
def check_two_variances(student):
    """The variances of four points"""
    X = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    result = student.variances(X)
    is_tensor(result)
    same_values(result, torch.tensor([6.0, 2 / 3]))


@check("C5", share=1)
def check_one_normal(student):
    """The normal of a triangle on the floor"""
    result = student.normals(torch.tensor([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]]))
    is_tensor(result)
    same_shape(result, (1, 3))
    same_values(result, torch.tensor([[0.0, 0.0, 1.0]]))
