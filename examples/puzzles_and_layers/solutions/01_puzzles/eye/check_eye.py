import torch

from grader.check import check, no_loop, same_dtype, same_values


@check("C1", share=3, try_this="eye(3)")
def check_sizes(student, reference):
    """Tables of one row to nine"""
    for n in (1, 5, 9):
        same_values(student.eye(n), reference.eye(n))


@check("C2", category="dtype", share=2, try_this="eye(2).dtype")
def check_dtype(student):
    """Whole numbers"""
    same_dtype(student.eye(3), torch.int64)


@check("C3", category="performance", share=2, try_this="look for a `for` in your function")
def check_no_loop(student):
    """No loop"""
    no_loop(student.eye, (4,), (120,))
