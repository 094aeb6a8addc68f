import torch

from grader.check import (
    as_number,
    assert_close,
    assert_isinstance,
    assert_keeps_graph,
    assert_no_loop,
    assert_values,
    check,
)


@check("C1", share=2)
def check_goes_on(student):
    """Goes on beyond 2048 in float16, and keeps the ones where 1e8 and -1e8 cancel"""
    for x, expected in ((torch.ones(3000).half(), 3000.0), (torch.tensor([1e8, 1.0, -1e8] * 1000), 1000.0)):
        assert_values(as_number(student.accurate_sum(x)), expected, "the sum")


@check("C2", category="dtype", share=1)
def check_form(student):
    """Returns a 0-dim tensor of the dtype of x"""
    assert_close(student.accurate_sum(torch.tensor([0.5, 2.0]).half()), torch.tensor(2.5).half())


@check("C3", category="performance", share=2)
def check_no_loop(student):
    """As many operations for 80 scores as for 8"""
    assert_no_loop(student.accurate_sum, (torch.arange(8.0),), (torch.arange(80.0),))
    assert_keeps_graph(student.accurate_sum, torch.tensor([1.0, 2.0, 3.0]))


@check("C4", share=2)
def check_error(student):
    """Measures how far the loop is off"""
    error = student.loop_error(torch.ones(3000, dtype=torch.float16))
    assert_isinstance(error, float, "the error")
    assert_values(error, 952.0, "the error")
