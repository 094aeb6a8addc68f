import torch

from grader.check import (
    agrees,
    changed,
    check,
    edge_cases,
    is_tensor,
    is_view_of,
    keeps_arguments,
    no_new_storage,
    no_warning,
    require,
    same_dtype,
    same_layout,
    same_values,
    shares_nothing,
    uses_only,
)

WINDOW = "t = torch.zeros(4, 6)[1:, ::2]; swap(t, 0, 1).storage_offset()"


def tensors(rng):
    """Contiguous tensors and windows, of sizes that all differ."""
    x = rng.normal(3, 5, 2, 4)
    y = rng.normal(7, 9)
    return x, x.permute(2, 0, 3, 1), y[1:, ::2], y[2], x[1:, 2:, :, 1].mT, y[:1].expand(3, 9)


@check("C1", share=3, try_this="swap(torch.zeros(2, 3, 4, 5), -1, 1).stride()")
def check_swap(student, rng):
    """Exchanges any two dims of any tensor"""
    for t in tensors(rng)[:2]:
        a, b = rng.integer(0, t.ndim - 1), rng.integer(-t.ndim, -1)
        asked = t.transpose(a, b)
        yours = student.swap(t, a, b)
        same_layout(yours, asked, "the view")
        same_values(yours, asked, "the view")
    asked = t[...]
    same_layout(student.swap(t, 1, 1), asked, "the view, where both dims are the same")


@check("C1", share=2, try_this=WINDOW)
def check_swap_windows(student, rng):
    """Exchanges dims of windows, with their offset"""
    for t in tensors(rng)[2:]:
        asked = t.transpose(0, -1)
        yours = student.swap(t, 0, -1)
        same_values(yours, asked, "the view of a window")
        same_layout(yours, asked, "the view of a window")


@check("C1", category="performance", share=1, try_this="swap(torch.zeros(2, 3), 0, 1), without `transpose`")
def check_as_strided(student, rng):
    """Uses as_strided and no transpose"""
    uses_only(student.swap, "as_strided")
    is_tensor(student.swap(rng.normal(3, 5, 2), 0, 2), "the view")


@check("C2", share=2, try_this="flip_last(torch.zeros(2, 3, 4, 5)).shape")
def check_flip(student, rng):
    """Swaps the last two dims, with any dims before them"""
    x, turned, window, *_ = tensors(rng)
    for t in (window, x, turned):  # first one of two dims
        asked = t.transpose(-1, -2)
        yours = student.flip_last(t)
        same_layout(yours, asked, "the view")
        same_values(yours, asked, "the view")


@check("C2", share=2, try_this="flip_last(torch.zeros(3)), and flip_last(torch.tensor(1.0))")
def check_flip_few_dims(student, rng):
    """Gives vectors and 0-dim tensors as they are, without a warning"""
    for t in (rng.normal(rng.integer(3, 6)), rng.normal()):
        asked = t.clone()
        yours = no_warning(student.flip_last, t)
        same_layout(yours, asked, "the result for a tensor with fewer than two dims")
        same_values(yours, asked, "the result for a tensor with fewer than two dims")


@check("C3", category="memory", share=3, try_this="packed(torch.zeros(2, 3).t()).stride()")
def check_packed(student, rng):
    """A copy in reading order, of any tensor"""
    edges = edge_cases(rng, 3, 4, without=("a required gradient",)).values()
    for t in (*tensors(rng), torch.arange(12).reshape(3, 4).t(), *edges):
        yours = student.packed(t)
        same_values(yours, t, "the copy")
        same_dtype(yours, t.dtype, "the copy")
        require(yours.stride() == t.contiguous().stride(), "the copy is not in reading order; look at its strides")
        shares_nothing(yours, t, "the copy", "t")


@check("C4", category="memory", share=1, try_this="t = torch.zeros(2, 3); s = swap(t, 0, 1); s[0, 1] = 7; print(t)")
def check_no_memory(student, rng):
    """Views make no new memory"""
    for function, more, name in ((student.swap, (0, 1), "swap"), (student.flip_last, (), "flip_last")):
        t = rng.normal(4, 6)
        asked, twin = t.t(), t.clone()
        yours = function(t, *more)
        if agrees(yours, asked):  # wrong numbers are for other checks
            is_view_of(yours, changed(t), f"the result of {name}", "t")
            no_new_storage(function, twin, *more)


@check("C4", category="memory", share=1, try_this="t = torch.zeros(3); flip_last(t).fill_(7.0); print(t)")
def check_no_copy_of_few_dims(student, rng):
    """No copy of a vector or a 0-dim tensor"""
    for t in (rng.normal(5), rng.normal()):
        asked = t.clone()
        yours = student.flip_last(t)
        if agrees(yours, asked):
            is_view_of(yours, t, "the result of flip_last for fewer than two dims", "t")


@check("C5", category="memory", share=1, try_this="t = torch.zeros(2, 3); packed(t); print(t.shape)")
def check_kept(student, rng):
    """Leaves t as it was"""
    for function, more in ((student.swap, (0, 1)), (student.flip_last, ()), (student.packed, ())):
        keeps_arguments(function, rng.normal(3, 4), *more, what="t", requiring=False)
