import torch

from grader.check import check, is_tensor, keeps_graph, no_loop, same_shape, same_values


@check("C1", share=1)
def check_small(student):
    """Adds up the squares of two samples out of four"""
    same_values(student.energy_above(torch.tensor([0.5, 3.0, -4.0, 2.0]), 1.0), torch.tensor(13.0))


@check("C3", category="shape", share=1)
def check_zero_dim(student):
    """Returns a 0-dim tensor"""
    energy = student.energy_above(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 2.5)
    is_tensor(energy)
    same_shape(energy, ())


@check("C4", category="performance", share=4)
def check_no_loop(student):
    """As many operations for 80 samples as for 8"""
    student.energy_above(torch.tensor([1.0, 2.0, 3.0]), 1.5)
    no_loop(student.energy_above, (torch.arange(-4.0, 4.0), 0.0), (torch.arange(-40.0, 40.0), 0.0))
    keeps_graph(student.energy_above, torch.tensor([1.0, 2.0, 3.0]), 1.5)
