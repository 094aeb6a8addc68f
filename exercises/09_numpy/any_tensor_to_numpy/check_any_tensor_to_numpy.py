import numpy as np
import torch

from grader.check import (
    check,
    is_array,
    is_tensor,
    no_warning,
    reads_openly,
    require,
    same_dtype,
    same_values,
    shares_memory,
)


@check("C1", share=1)
def check_requires(student):
    """Takes two weights that require a gradient"""
    array = student.to_numpy(torch.tensor([1.0, 2.0], requires_grad=True))
    is_array(array)
    same_values(array, np.array([1.0, 2.0]))
    reads_openly(student.to_numpy)  # hidden checks cannot judge code that hides what it does


@check("C2", category="dtype", share=1)
def check_bfloat16(student):
    """Makes float32 of bfloat16"""
    array = student.to_numpy(torch.tensor([1.0, 2.5], dtype=torch.bfloat16))
    is_array(array)
    same_dtype(array, torch.float32)
    same_values(array, np.array([1.0, 2.5]))


@check("C3", category="memory", share=1)
def check_shares_four(student):
    """Shares the memory of four numbers"""
    t = torch.tensor([1.0, 2.0, 3.0, 4.0])
    array = student.to_numpy(t)
    is_array(array)
    require(shares_memory(array, t), "the array is a copy; it could share the memory of t")


@check("C6", share=1)
def check_mirrored(student):
    """Takes a mirrored array"""
    t = no_warning(student.to_tensor, np.arange(3)[::-1])
    is_tensor(t)
    same_values(t, torch.tensor([2, 1, 0]))
