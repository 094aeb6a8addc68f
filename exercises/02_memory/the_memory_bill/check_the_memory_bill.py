import torch

from grader.check import check, reads_openly, require, same_values, shares_nothing


@check("C1", share=1)
def check_boxed_example(student):
    """The bytes of a list of two floats"""
    # 56 for an empty list, 8 for each pointer, and perhaps room for more of them; 24 for each float.
    found = student.boxed_bytes([0.5, 1.5])
    expected = "expected  120 to 184 (a list may have room for more items)"
    require(120 <= found <= 184, f"boxed_bytes([0.5, 1.5]) has the wrong value\n{expected}\ngot       {found}")
    reads_openly(student.boxed_bytes)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_tensor_example(student):
    """The bytes of a (2, 3) tensor of float64"""
    same_values(student.tensor_bytes((2, 3), torch.float64), 48, "tensor_bytes((2, 3), torch.float64)")


@check("C3", share=1)
def check_held_example(student):
    """A slice of ten holds the storage of a thousand"""
    same_values(student.held_bytes(torch.zeros(1000)[:10]), 4000, "held_bytes(torch.zeros(1000)[:10])")


@check("C4", category="memory", share=1)
def check_compact_example(student):
    """A slice of ten gets 40 bytes of its own"""
    t = torch.arange(1000.0)[:10]
    yours = student.compact(t)
    same_values(yours, torch.arange(10.0), "compact(t)")
    shares_nothing(yours, t, "compact(t)", "t")
