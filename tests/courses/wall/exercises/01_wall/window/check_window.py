import torch

from grader.check import assert_close, assert_in_place, assert_values, assert_view, check


@check("C1", category="memory", share=2)
def check_view(student):
    """A window of three numbers"""
    x = torch.arange(6.0)
    y = student.window(x, 1, 3)
    assert_close(y, torch.tensor([1.0, 2.0, 3.0]))
    assert_view(y, x)


@check("C2", category="memory", share=2)
def check_adds(student):
    """Adds in place"""
    a = torch.tensor([1.0, 2.0])
    assert_in_place(student.add_into(a, torch.tensor([10.0, 20.0])), a)
    assert_values(a, torch.tensor([11.0, 22.0]))
