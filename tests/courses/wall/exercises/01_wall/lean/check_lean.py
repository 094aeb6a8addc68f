import torch

from grader.check import after_call, assert_values, check


@check("C1", share=1)
def check_scale(student):
    """Doubles two numbers"""
    t = torch.tensor([1.0, 2.0])
    student.scale_(t, 2.0)
    assert_values(after_call(t), torch.tensor([2.0, 4.0]))


@check("C3", share=1)
def check_pick(student):
    """Picks two numbers"""
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert_values(student.pick(scores, torch.tensor([1, 0])), torch.tensor([2.0, 3.0]))
