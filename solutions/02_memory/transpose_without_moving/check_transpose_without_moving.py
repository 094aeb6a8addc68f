import torch

from grader.check import (
    after_call,
    allclose,
    assert_does_not_mutate,
    assert_dtype,
    assert_memory_layout,
    assert_no_new_storage,
    assert_no_warnings,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_uses_only,
    assert_values,
    assert_view,
    check,
    edge_cases,
)


def tensors(rng):
    """Contiguous tensors and views, of sizes that all differ."""
    x = rng.normal(3, 5, 2, 4)
    y = rng.normal(7, 9)
    return x, x.permute(2, 0, 3, 1), y[1:, ::2], y[2], x[1:, 2:, :, 1].mT, y[:1].expand(3, 9)


@check("C1", share=5, try_this="t = torch.zeros(4, 6, 2)[1:, ::2]; swap(t, -1, 1).stride(), t.storage_offset()")
def check_swap(student, rng):
    """Exchanges any two dims of any tensor or view"""
    for t in tensors(rng):
        for a, b in ((rng.integer(0, t.ndim - 1), rng.integer(-t.ndim, -1)), (0, -1), (-1, -1)):
            asked = t.transpose(a, b)
            yours = student.swap(t, a, b)
            assert_memory_layout(yours, asked, "the view")
            assert_values(yours, asked, "the view")


@check("C1", category="performance", share=1, try_this="swap(torch.zeros(2, 3), 0, 1), without `transpose`")
def check_as_strided(student, rng):
    """Uses as_strided and no transpose"""
    assert_uses_only(student.swap, "as_strided")
    assert_tensor(student.swap(rng.normal(3, 5, 2), 0, 2), "the view")


@check("C2", share=4, try_this="flip_last(torch.zeros(2, 3, 4, 5)).shape, flip_last(torch.zeros(3))")
def check_flip(student, rng):
    """Swaps the last two dims, if there are two, without a warning"""
    x, turned, view, *_ = tensors(rng)
    imaginary = torch.complex(rng.normal(2, 3), rng.normal(2, 3))
    for t in (view, x, turned, imaginary, rng.normal(rng.integer(3, 6)), rng.normal()):  # first one of two dims
        asked = t.mT if t.ndim > 1 else t[...]
        what = "the view" if t.ndim > 1 else "the result for a tensor with fewer than two dims"
        yours = assert_no_warnings(student.flip_last, t)
        assert_memory_layout(yours, asked, what)
        assert_values(yours, asked, what)


@check("C3", category="memory", share=3, try_this="packed(torch.zeros(2, 3).t()).stride()")
def check_packed(student, rng):
    """A copy in reading order, of any tensor"""
    edges = edge_cases(rng, 3, 4, without=("a required gradient",)).values()
    for t in (*tensors(rng), torch.arange(12).reshape(3, 4).t(), *edges):
        yours = student.packed(t)
        assert_values(yours, t, "the copy")
        assert_dtype(yours, t.dtype, "the copy")
        assert_true(yours.stride() == t.contiguous().stride(), "the copy is not in reading order; look at its strides")
        assert_shares_no_memory(yours, t, "the copy", "t")


@check("C4", category="memory", share=2, try_this="t = torch.zeros(2, 3); s = swap(t, 0, 1); s[0, 1] = 7; print(t)")
def check_no_memory(student, rng):
    """Views make no new memory, also of a vector and of a 0-dim tensor"""
    cases = (student.swap, (4, 6), (0, 1)), (student.flip_last, (4, 6), ()), (student.flip_last, (5,), ())
    for function, sizes, dims in (*cases, (student.flip_last, (), ())):
        t = rng.normal(*sizes)
        asked, twin = t.mT.clone() if sizes == (4, 6) else t.clone(), t.clone()
        yours = function(t, *dims)
        if allclose(yours, asked):  # wrong numbers are for other checks
            assert_view(yours, after_call(t), f"the result of `{function}`", "t")
            assert_no_new_storage(function, twin, *dims)


@check("C5", category="memory", share=1, try_this="t = torch.zeros(2, 3); packed(t); print(t.shape)")
def check_kept(student, rng):
    """Leaves t as it was"""
    for function, more in ((student.swap, (0, 1)), (student.flip_last, ()), (student.packed, ())):
        assert_does_not_mutate(function, rng.normal(3, 4), *more, what=f"the t of `{function}`", requiring=False)
