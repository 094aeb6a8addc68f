import torch

from grader.check import assert_in_place, assert_unchanged, assert_values, assert_view, check

SECRET = "CANARY_CHECK"


@check("C1", category="memory", share=3, try_this="window(torch.arange(9), 2, 4)")
def check_view_random(student, rng):
    """Windows of random tensors, which stay as they are"""
    x = rng.normal(9)
    with assert_unchanged(x):
        y = student.window(x, 2, 4)
    assert_values(y, x[2:6])
    assert_view(y, x)


@check("C2", category="memory", share=3, try_this="x = torch.ones(3); add_into(x, x)")
def check_adds_to_itself(student):
    """One tensor as both arguments, and two that overlap"""
    a = torch.tensor([918273645.0, 1.0])
    assert_in_place(student.add_into(a, a), a)
    assert_values(a, torch.tensor([1836547290.0, 2.0]))
    rows = torch.arange(6.0).view(2, 3)
    assert_in_place(student.add_into(top := rows[0], rows[1]), top)
    assert_values(rows, torch.tensor([[3.0, 5.0, 7.0], [3.0, 4.0, 5.0]]))
