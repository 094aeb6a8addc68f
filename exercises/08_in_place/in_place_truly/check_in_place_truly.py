import itertools
import math

import torch

from grader.check import (
    CannotJudge,
    after_call,
    allclose,
    assert_costs_at_most,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
    raises,
)


@check("C1", share=1)
def check_numbers(student):
    """The numbers that come out"""
    for function, args, asked in [
        (student.axpy_, (torch.tensor([1.0, 2.0]), 3.0, torch.tensor([4.0, 5.0])), [13.0, 17.0]),
        (student.sine_, (torch.tensor([0.0, math.pi / 2]),), [0.0, 1.0]),
        (student.reset_, (torch.tensor([4.0, math.inf]),), [0.0, 0.0]),
    ]:
        result, first = function(*args), after_call(args[0])
        if not allclose(result, torch.tensor(asked)):  # whether they are in the result or in the argument is for C2
            assert_values(first, torch.tensor(asked), f"the first argument after `{function}`")


@check("C2", category="memory", share=1)
def check_row(student):
    """A row of the state changes in the state, and is returned"""
    for function, args in ((student.axpy_, (2.0, torch.ones(3))), (student.sine_, ()), (student.reset_, ())):
        state = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        row = state[1]
        result = function(row, *args)
        assert_true(state[1, 0] != 4.0, f"after `{function}` of the row state[1], the state still has its old numbers")
        got = "None (is a `return` missing?)" if result is None else "another object"
        assert_true(result is row, f"`{function}` must return its first argument itself, got {got}")


@check("C3", category="performance", share=1)
def check_no_product(student):
    """axpy_ makes no tensor on the way"""
    y = torch.ones(20)
    assert_costs_at_most(student.axpy_, (y, 2.0, torch.arange(20.0)), bytes=64)
    if y[1] == 1.0:
        raise CannotJudge("axpy_ changes nothing yet; what it needs for that is judged later")


@check("C4", category="error", share=2)
def check_no_growth(student):
    """y cannot grow"""
    y = torch.ones(3)
    student.axpy_(y, 1.0, torch.ones(3))
    if (after_call(y) == 1.0).all():
        raise CannotJudge("axpy_ changes nothing yet; whether it lets y grow is judged later", about="memory")
    for (mine, other), a in itertools.product((((3,), (2, 3)), ((2, 1), (2, 3)), ((), (3,))), (1.0, 0.0)):
        y, case = torch.ones(mine), f"a y of shape {mine} and an x of {other}"
        raises(student.axpy_, y, a, torch.ones(other), error=RuntimeError, case=case)
        assert_values(y, torch.ones(mine), "y after the error")


@check("C5", category="memory", share=2)
def check_x_kept(student):
    """axpy_ leaves x as it was"""
    for x in (torch.tensor([4.0, 5.0, 6.0]), torch.tensor([[4.0], [5.0]]), torch.tensor([4.0])):
        with assert_unchanged(x, what="x"):
            student.axpy_(torch.ones_like(x), 0.3, x)
