import torch

from grader.check import check, is_tensor, no_loop, number, same_shape, same_values, stays_in_torch


@check("C1", share=1)
def check_small(student):
    """Adds up the squares of two samples out of four"""
    same_values(number(student.energy_above(torch.tensor([0.5, 3.0, -4.0, 2.0]), 1.0)), 13.0)


@check("C3", category="shape", share=1)
def check_zero_dim(student):
    """Returns a 0-dim tensor"""
    energy = student.energy_above(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 2.5)
    is_tensor(energy)
    same_shape(energy, ())


@check("C4", category="performance", share=3)
def check_no_loop(student):
    """As many operations for 80 samples as for 8"""
    student.energy_above(torch.tensor([1.0, 2.0, 3.0]), 1.5)
    no_loop(student.energy_above, (torch.arange(-4.0, 4.0), 0.0), (torch.arange(-40.0, 40.0), 0.0))


@check("C5", category="gradient", share=1)
def check_stays(student):
    """The numbers stay in PyTorch"""
    stays_in_torch(student.energy_above, torch.tensor([1.0, 2.0, 3.0]), 1.5)
