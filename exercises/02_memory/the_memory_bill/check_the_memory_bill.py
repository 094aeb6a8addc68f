import torch

from grader.check import assert_no_hidden_code, assert_shares_no_memory, assert_true, assert_values, check


@check("C1", share=1)
def check_boxed_example(student):
    """The bytes of a list of two floats"""
    # 56 for an empty list, 8 for each pointer, and perhaps room for more of them; 24 for each float.
    found = student.boxed_bytes([0.5, 1.5])
    expected = "expected  120 to 184 (a list may have room for more items)"
    assert_true(120 <= found <= 184, f"boxed_bytes([0.5, 1.5]) has the wrong value\n{expected}\ngot       {found}")
    assert_no_hidden_code(student.boxed_bytes)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_tensor_example(student):
    """The bytes of a (2, 3) tensor of float64"""
    assert_values(student.tensor_bytes((2, 3), torch.float64), 48, "tensor_bytes((2, 3), torch.float64)")


@check("C3", share=1)
def check_held_example(student):
    """A slice of ten holds the storage of a thousand"""
    assert_values(student.held_bytes(torch.zeros(1000)[:10]), 4000, "held_bytes(torch.zeros(1000)[:10])")


@check("C4", category="memory", share=1)
def check_compact_example(student):
    """A slice of ten gets 40 bytes of its own"""
    t = torch.arange(1000.0)[:10]
    yours = student.compact(t)
    assert_values(yours, torch.arange(10.0), "compact(t)")
    assert_shares_no_memory(yours, t, "compact(t)", "t")
