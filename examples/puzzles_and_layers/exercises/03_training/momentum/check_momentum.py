import torch

from grader.check import assert_values, check


@check("C2")
def check_one_step(student, probe):
    """One step along the gradient"""
    (w,) = probe.stepped(student.Momentum, [torch.tensor([1.0, 2.0])], [[torch.tensor([3.0, 3.0])]], 0.5, 0.9)
    assert_values(w, torch.tensor([-0.5, 0.5]), "w")
