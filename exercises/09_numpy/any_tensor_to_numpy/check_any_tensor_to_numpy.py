import numpy as np
import torch

from grader.check import (
    assert_array,
    assert_dtype,
    assert_no_hidden_code,
    assert_no_warnings,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    shares_memory,
)


@check("C1", share=1)
def check_requires(student):
    """Takes two weights that require a gradient"""
    array = student.to_numpy(torch.tensor([1.0, 2.0], requires_grad=True))
    assert_array(array)
    assert_values(array, np.array([1.0, 2.0]))
    assert_no_hidden_code(student.to_numpy)  # hidden checks cannot judge code that hides what it does


@check("C2", category="dtype", share=1)
def check_bfloat16(student):
    """Makes float32 of bfloat16"""
    array = student.to_numpy(torch.tensor([1.0, 2.5], dtype=torch.bfloat16))
    assert_array(array)
    assert_dtype(array, torch.float32)
    assert_values(array, np.array([1.0, 2.5]))


@check("C3", category="memory", share=1)
def check_shares_four(student):
    """Shares the memory of four numbers"""
    t = torch.tensor([1.0, 2.0, 3.0, 4.0])
    array = student.to_numpy(t)
    assert_array(array)
    assert_true(shares_memory(array, t), "the array is a copy; it could share the memory of t")


@check("C6", share=1)
def check_mirrored(student):
    """Takes a mirrored array"""
    t = assert_no_warnings(student.to_tensor, np.arange(3)[::-1])
    assert_tensor(t)
    assert_values(t, torch.tensor([2, 1, 0]))
