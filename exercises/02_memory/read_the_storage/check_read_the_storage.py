import torch

from grader.check import after_call, assert_no_warnings, assert_values, check, raises


@check("C1", share=2)
def check_example(student):
    """All numbers behind a column of a (2, 3) tensor"""
    t = torch.arange(6.0).reshape(2, 3)[:, 1]
    assert_values(student.storage_numbers(t), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "storage_numbers(t)")


@check("C2", category="memory", share=2)
def check_poke_example(student):
    """Writes to the last place behind a column"""
    a = torch.arange(6.0).reshape(2, 3)
    student.poke_(a[:, 1], 5, 9.0)
    assert_values(after_call(a), torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 9.0]]), "a, after poke_(a[:, 1], 5, 9.)")


@check("C3", category="error", share=1)
def check_outside(student):
    """Refuses a place that is not there"""
    raises(student.poke_, torch.zeros(3), 3, 1.0, error=IndexError, case="place 3 of three")


@check("C4", category="correctness", share=1)
def check_no_warning(student):
    """Causes no warning"""
    assert_no_warnings(student.storage_numbers, torch.zeros(3))
