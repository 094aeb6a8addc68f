import torch

from grader.check import assert_dtype, assert_no_loop, assert_values, check


@check("C1", share=3, try_this="eye(3)")
def check_sizes(student, reference):
    """Tables of one row to nine"""
    for n in (1, 5, 9):
        assert_values(student.eye(n), reference.eye(n))


@check("C2", category="dtype", share=2, try_this="eye(2).dtype")
def check_dtype(student):
    """Whole numbers"""
    assert_dtype(student.eye(3), torch.int64)


@check("C3", category="performance", share=2, try_this="look for a `for` in your function")
def check_no_loop(student):
    """No loop"""
    assert_no_loop(student.eye, (4,), (120,))
