import torch

from grader.check import (
    assert_memory_layout,
    assert_no_hidden_code,
    assert_shares_memory,
    assert_true,
    assert_values,
    check,
)


@check("C1", share=2)
def check_swap_example(student):
    """Exchanges the first and the last dim of a (2, 3, 4) tensor"""
    t = torch.arange(24.0).reshape(2, 3, 4)
    asked = t.transpose(0, 2)  # before the call: who turns t itself breaks another rule
    yours = student.swap(t, 0, 2)
    assert_memory_layout(yours, asked, "swap(t, 0, 2)")
    assert_values(yours, asked, "swap(t, 0, 2)")
    assert_no_hidden_code(student.swap)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_flip_example(student):
    """Exchanges the last two dims of a (2, 3, 4) tensor"""
    t = torch.arange(24.0).reshape(2, 3, 4)
    asked = t.transpose(1, 2)
    yours = student.flip_last(t)
    assert_values(yours, asked, "flip_last(t)")
    assert_shares_memory(yours, t, "flip_last(t)", "t")


@check("C3", share=1)
def check_packed_example(student):
    """Packs a transposed matrix"""
    t = torch.arange(6.0).reshape(2, 3).t()
    yours = student.packed(t)
    assert_values(yours, t, "packed(t)")
    assert_true(yours.is_contiguous(), f"packed(t) has strides {yours.stride()}; in reading order they are (2, 1)")
